// Package agent is what the example agents have in common: telling what they do, and following a negotiation from state to
// state until it is closed. How they bargain is in cmd/buyer and cmd/seller.
package agent

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/amount"
	"github.com/haggle-protocol/haggle/sdk"
)

// Action is something an agent has done on chain, and what it took.
type Action struct {
	Agent string `json:"agent"`
	// Name is "create", "join", "offer", "take", "reject", "expire", "claim" or "close".
	Name        string           `json:"action"`
	Negotiation solana.PublicKey `json:"negotiation"`
	// Round is how many offers have been made by then.
	Round uint8 `json:"round"`
	// Price is what has been offered or taken; nil for other actions.
	Price *amount.Tokens `json:"price,omitempty"`
	// EffectiveEscrow is what the escrow is worth after the action.
	EffectiveEscrow amount.Tokens `json:"effective_escrow"`
	// ComputeUnits and FeeLamports are zero, and left out, if the node does not tell them.
	ComputeUnits   uint64           `json:"compute_units,omitempty"`
	FeeLamports    uint64           `json:"fee_lamports,omitempty"`
	ConfirmationMS int64            `json:"confirmation_ms"`
	Slot           uint64           `json:"slot"`
	Signature      solana.Signature `json:"signature"`
}

// Header names the columns of Line.
const Header = "agent   action  round  price         escrow worth  compute units  confirmed"

// Line is the action in columns.
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
	return fmt.Sprintf("%-6s  %-6s  %5s  %-12s  %-12s  %13s  %6d ms", a.Agent, a.Name, round, price, a.EffectiveEscrow, consumed, a.ConfirmationMS)
}

// Note is something an agent has to say beside its actions.
type Note struct {
	Agent string `json:"agent"`
	Note  string `json:"note"`
}

// Log tells what an agent does, a line at a time, for people or as JSON.
type Log struct {
	Agent string
	Out   io.Writer
	JSON  bool
}

// Note tells how things stand.
func (l *Log) Note(format string, arguments ...any) {
	note := Note{l.Agent, fmt.Sprintf(format, arguments...)}
	if l.JSON {
		_ = json.NewEncoder(l.Out).Encode(note)
		return
	}
	fmt.Fprintf(l.Out, "%-6s  %s\n", note.Agent, note.Note)
}

// Did tells an action and what it took. The negotiation is as it was before.
func (l *Log) Did(name string, before *haggle.NegotiationAccount, price *amount.Tokens, receipt *haggle.Receipt, decimals uint8) {
	action := Action{
		Agent: l.Agent, Name: name, Negotiation: before.Address, Round: before.CurrentRound, Price: price,
		EffectiveEscrow: amount.Tokens{Units: before.EffectiveEscrow, Decimals: decimals},
		ComputeUnits:    receipt.ComputeUnits, FeeLamports: receipt.Fee, ConfirmationMS: receipt.Elapsed.Milliseconds(),
		Slot: receipt.Slot, Signature: receipt.Signature,
	}
	for _, event := range receipt.Events {
		if offer, made := event.(*haggle.OfferSubmitted); made {
			action.Round, action.EffectiveEscrow.Units = offer.Round, offer.EffectiveEscrow
		}
	}
	if l.JSON {
		_ = json.NewEncoder(l.Out).Encode(action)
		return
	}
	fmt.Fprintln(l.Out, action.Line())
}
