// Package agentrun contains the code shared by the example agents: flags, journal, finding an earlier run's
// negotiation, and output. The strategies are in cmd/buyer and cmd/seller; the SDK's package agent runs the
// negotiation.
package agentrun

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/actions"
	"github.com/haggle-protocol/haggle/internal/cli/mint"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
)

// Note is a message printed beside the actions.
type Note struct {
	Agent string `json:"agent"`
	Note  string `json:"note"`
}

// Log prints an agent's actions, one per line, for people or as JSON. It may be used from several goroutines.
type Log struct {
	Agent string
	Out   io.Writer
	JSON  bool
	// Amounts is the mint of the negotiations.
	Amounts mint.Mint

	lock sync.Mutex
	// listed reports whether the header of the actions has been printed.
	listed bool
}

// Tokens returns base units of the mint as an amount.
func (l *Log) Tokens(units uint64) amount.Tokens { return l.Amounts.Tokens(units) }

// AmountOf formats base units of the given mint, or lamports.
func (l *Log) AmountOf(address solana.PublicKey, units uint64) string {
	if address == l.Amounts.Address && !address.IsZero() {
		return l.Amounts.Tokens(units).String()
	}
	return mint.Offline(address, units)
}

// Note prints a message.
func (l *Log) Note(format string, arguments ...any) {
	note := Note{l.Agent, fmt.Sprintf(format, arguments...)}
	l.lock.Lock()
	defer l.lock.Unlock()
	l.write(note, fmt.Sprintf("%-6s  %s", note.Agent, note.Note))
}

// Warn prints a message on stderr; with JSON it prints a Note among the documents instead.
func (l *Log) Warn(stderr io.Writer, message string) {
	if l.JSON {
		l.Note("%s", message)
		return
	}
	fmt.Fprintln(stderr, "note:", message)
}

// Did prints an action. before is the preceding snapshot. Text output begins with a header.
func (l *Log) Did(instruction string, before *haggle.Snapshot, receipt *haggle.Receipt) {
	action := actions.Of(l.Agent, instruction, before, receipt, l.Tokens)
	l.did(action)
}

// did prints an action.
func (l *Log) did(action actions.Action) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if !l.JSON && !l.listed {
		fmt.Fprintln(l.Out, actions.Header(l.Amounts.Symbol))
		l.listed = true
	}
	l.write(action, action.Line())
}

// Document prints a document as JSON.
func (l *Log) Document(document any) {
	l.lock.Lock()
	defer l.lock.Unlock()
	_ = json.NewEncoder(l.Out).Encode(document)
}

// write prints a document as JSON, or the line. The caller holds the lock.
func (l *Log) write(document any, line string) {
	if l.JSON {
		_ = json.NewEncoder(l.Out).Encode(document)
		return
	}
	fmt.Fprintln(l.Out, line)
}
