// Package actions formats agents' on-chain actions for the commands and the demonstration.
package actions

import (
	"fmt"
	"unicode/utf8"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/result"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Action is an action on chain, as it is printed.
type Action struct {
	Agent string `json:"agent"`
	// Name is the instruction's name in the IDL, and Result its effect: "offer accepted".
	Name        string           `json:"action"`
	Result      string           `json:"result"`
	Negotiation solana.PublicKey `json:"negotiation"`
	// Round counts the offers by then.
	Round uint8 `json:"round"`
	// Price is the offered or accepted price; nil for other actions, and if the node does not return the
	// offer's event.
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

// columns formats a row: agent, result, round, price, escrow, compute units and confirmation. With the longest
// symbol, rows take 94 columns.
const columns = "%-6s  %-19s  %5s  %-*s  %-12s  %13s  %9s"

// Header names the columns of Line. All amounts have the symbol that is beside the price.
func Header(symbol string) string {
	return fmt.Sprintf(columns, "agent", "result", "round", priceWidth(symbol), priceTitle(symbol),
		"escrow worth", "compute units", "confirmed")
}

func priceTitle(symbol string) string { return "price (" + symbol + ")" }

// priceWidth is the price column's width.
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

// Of returns an instruction's action. before is the preceding snapshot. tokens formats base units of the mint
// as an amount.
func Of(
	agent, instruction string, before *haggle.Snapshot, receipt *haggle.Receipt, tokens func(uint64) amount.Tokens,
) Action {
	action := Action{
		Agent: agent, Name: instruction, Result: result.Of(instruction), Negotiation: before.Address, Round: before.CurrentRound,
		EffectiveEscrow: tokens(before.EffectiveEscrow),
		ComputeUnits:    receipt.ComputeUnits, FeeLamports: receipt.Fee, ConfirmationMS: receipt.Elapsed.Milliseconds(),
		Slot: receipt.Slot, Signature: receipt.Signature,
	}
	switch action.Name {
	case "submit_offer":
		action.Round++
	case "accept_offer":
		action.Price = new(tokens(before.CurrentOfferAmount))
	}
	for _, event := range receipt.Events {
		if offer, made := event.(*protocol.OfferSubmitted); made {
			action.Price = new(tokens(offer.Amount))
			action.EffectiveEscrow.Units = offer.EffectiveEscrow
		}
	}
	return action
}

// OfCreation returns the action for a negotiation's creation.
func OfCreation(agent string, created *haggle.Action, receipt *haggle.Receipt, tokens func(uint64) amount.Tokens) Action {
	n := &haggle.Snapshot{Address: created.Negotiation}
	n.EffectiveEscrow = created.Creation.Params.EscrowAmount
	return Of(agent, created.Name, n, receipt, tokens)
}
