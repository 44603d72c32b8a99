// Package exampleagent has the common parts of the example agents: flags, journal, finding the negotiation of
// an earlier run, and output. cmd/buyer and cmd/seller have their strategies; package agent of the SDK runs
// the negotiation.
package exampleagent

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/result"
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

// Header names the columns of Line.
const Header = "agent   result               round  price         escrow worth  compute units  confirmed"

// Line writes the action in columns.
func (a Action) Line() string {
	price := ""
	if a.Price != nil {
		price = a.Price.String()
	}
	round := ""
	if a.Round > 0 {
		round = fmt.Sprint(a.Round)
	}
	consumed := "unknown"
	if a.ComputeUnits > 0 {
		consumed = fmt.Sprint(a.ComputeUnits)
	}
	return fmt.Sprintf("%-6s  %-19s  %5s  %-12s  %-12s  %13s  %6d ms", a.Agent, a.Result, round, price, a.EffectiveEscrow, consumed, a.ConfirmationMS)
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

	lock sync.Mutex
}

// Note prints a message.
func (l *Log) Note(format string, arguments ...any) {
	note := Note{l.Agent, fmt.Sprintf(format, arguments...)}
	l.write(note, fmt.Sprintf("%-6s  %s", note.Agent, note.Note))
}

// Did prints an action. The negotiation is the one before it.
func (l *Log) Did(instruction string, before *haggle.Snapshot, receipt *haggle.Receipt, decimals uint8) {
	action := Action{
		Agent: l.Agent, Name: instruction, Result: result.Of(instruction), Negotiation: before.Address, Round: before.CurrentRound,
		EffectiveEscrow: amount.Tokens{Units: before.EffectiveEscrow, Decimals: decimals},
		ComputeUnits:    receipt.ComputeUnits, FeeLamports: receipt.Fee, ConfirmationMS: receipt.Elapsed.Milliseconds(),
		Slot: receipt.Slot, Signature: receipt.Signature,
	}
	switch action.Name {
	case "submit_offer":
		action.Round++
	case "accept_offer":
		action.Price = &amount.Tokens{Units: before.CurrentOfferAmount, Decimals: decimals}
	}
	for _, event := range receipt.Events {
		if offer, made := event.(*protocol.OfferSubmitted); made {
			action.Price = &amount.Tokens{Units: offer.Amount, Decimals: decimals}
			action.EffectiveEscrow.Units = offer.EffectiveEscrow
		}
	}
	l.write(action, action.Line())
}

// Document prints a document as JSON.
func (l *Log) Document(document any) {
	l.lock.Lock()
	defer l.lock.Unlock()
	_ = json.NewEncoder(l.Out).Encode(document)
}

func (l *Log) write(document any, line string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.JSON {
		_ = json.NewEncoder(l.Out).Encode(document)
		return
	}
	fmt.Fprintln(l.Out, line)
}
