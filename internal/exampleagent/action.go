// Package exampleagent has the common parts of the example agents: flags, journal, finding the negotiation of
// an earlier run, and output. cmd/buyer and cmd/seller have their strategies; package agent of the SDK runs
// the negotiation.
package exampleagent

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/result"
	"github.com/haggle-protocol/haggle/internal/mint"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Action is an action on chain, as the agents print it.
type Action struct {
	Agent string `json:"agent"`
	// Name is the instruction's name in the IDL, and Result its effect: "offer accepted".
	Name        string           `json:"action"`
	Result      string           `json:"result"`
	Negotiation solana.PublicKey `json:"negotiation"`
	// Round is the number of offers by then.
	Round uint8 `json:"round"`
	// Price is the offered or accepted price; nil for other actions, and for an offer whose event the node
	// does not return.
	Price *amount.Tokens `json:"price,omitempty"`
	// EffectiveEscrow is the effective escrow after the action, as far as the node returns it.
	EffectiveEscrow amount.Tokens `json:"effective_escrow"`
	// ComputeUnits and FeeLamports are zero, and omitted, if the node does not return them.
	ComputeUnits   uint64           `json:"compute_units,omitempty"`
	FeeLamports    uint64           `json:"fee_lamports,omitempty"`
	ConfirmationMS int64            `json:"confirmation_ms"`
	Slot           uint64           `json:"slot"`
	Signature      solana.Signature `json:"signature"`
}

// columns is the format of a row: agent, result, round, price, escrow, compute units and confirmation. With
// the longest symbol a row has 94 columns.
const columns = "%-6s  %-19s  %5s  %-*s  %-12s  %13s  %9s"

// Header names the columns of Line. All amounts have the symbol that is beside the price.
func Header(symbol string) string {
	return fmt.Sprintf(columns, "agent", "result", "round", priceWidth(symbol), priceTitle(symbol),
		"escrow worth", "compute units", "confirmed")
}

func priceTitle(symbol string) string { return "price (" + symbol + ")" }

// priceWidth is the width of the column of prices.
func priceWidth(symbol string) int { return max(12, utf8.RuneCountInString(priceTitle(symbol))) }

// Line writes the action in columns.
func (a Action) Line() string {
	price := ""
	if a.Price != nil {
		price = a.Price.Decimal()
	}
	round := ""
	if a.Round > 0 {
		round = fmt.Sprint(a.Round)
	}
	consumed := "unknown"
	if a.ComputeUnits > 0 {
		consumed = fmt.Sprint(a.ComputeUnits)
	}
	return fmt.Sprintf(columns, a.Agent, a.Result, round, priceWidth(a.EffectiveEscrow.Symbol), price,
		a.EffectiveEscrow.Decimal(), consumed, fmt.Sprintf("%d ms", a.ConfirmationMS))
}

// Note is a message beside the actions.
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

// AmountOf formats base units of the mint, or of another mint, or lamports.
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

// Did prints an action. before is the snapshot that it was built on. Text begins with a header.
func (l *Log) Did(instruction string, before *haggle.Snapshot, receipt *haggle.Receipt) {
	action := Action{
		Agent: l.Agent, Name: instruction, Result: result.Of(instruction), Negotiation: before.Address, Round: before.CurrentRound,
		EffectiveEscrow: l.Tokens(before.EffectiveEscrow),
		ComputeUnits:    receipt.ComputeUnits, FeeLamports: receipt.Fee, ConfirmationMS: receipt.Elapsed.Milliseconds(),
		Slot: receipt.Slot, Signature: receipt.Signature,
	}
	switch action.Name {
	case "submit_offer":
		action.Round++
	case "accept_offer":
		action.Price = new(l.Tokens(before.CurrentOfferAmount))
	}
	for _, event := range receipt.Events {
		if offer, made := event.(*protocol.OfferSubmitted); made {
			action.Price = new(l.Tokens(offer.Amount))
			action.EffectiveEscrow.Units = offer.EffectiveEscrow
		}
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	if !l.JSON && !l.listed {
		fmt.Fprintln(l.Out, Header(l.Amounts.Symbol))
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

// write prints a document as JSON, or the line. The log is locked.
func (l *Log) write(document any, line string) {
	if l.JSON {
		_ = json.NewEncoder(l.Out).Encode(document)
		return
	}
	fmt.Fprintln(l.Out, line)
}
