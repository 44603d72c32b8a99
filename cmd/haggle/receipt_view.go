package main

import (
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/jsonview"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

// receiptView is what a confirmed transaction cost and did. Its cost is left out, and its events are not complete, where the node
// does not have the transaction's details.
type receiptView struct {
	Signature      solana.Signature `json:"signature"`
	Slot           uint64           `json:"slot"`
	ComputeUnits   uint64           `json:"compute_units,omitempty"`
	FeeLamports    uint64           `json:"fee_lamports,omitempty"`
	ConfirmationMS int64            `json:"confirmation_ms"`
	Events         []jsonview.List  `json:"events"`
	// Payments are the token accounts that the transaction has paid.
	Payments []paymentView `json:"payments,omitempty"`
}

// paymentView is what a token account has received, in base units of its mint.
type paymentView struct {
	Account   solana.PublicKey `json:"account"`
	Owner     solana.PublicKey `json:"owner"`
	Mint      solana.PublicKey `json:"mint"`
	BaseUnits uint64           `json:"base_units,string"`
}

func viewReceipt(r *haggle.Receipt) receiptView {
	v := receiptView{
		Signature: r.Signature, Slot: r.Slot, ComputeUnits: r.ComputeUnits, FeeLamports: r.Fee,
		ConfirmationMS: r.Elapsed.Milliseconds(), Events: []jsonview.List{},
	}
	for _, event := range r.Events {
		v.Events = append(v.Events, viewEvent(event))
	}
	for _, p := range r.Payments {
		v.Payments = append(v.Payments, paymentView{p.Account, p.Owner, p.Mint, p.Amount})
	}
	return v
}

func (v receiptView) text() string {
	return columns(
		row{"signature", v.Signature.String()},
		row{"cost", v.cost()},
		row{"confirmed", "after " + (time.Duration(v.ConfirmationMS) * time.Millisecond).String()},
	)
}

func (v receiptView) cost() string {
	if v.ComputeUnits == 0 {
		return "unknown: the node does not have the transaction's details"
	}
	return fmt.Sprintf("%d compute units, %d lamports", v.ComputeUnits, v.FeeLamports)
}

// actionView is what a command answers that has changed a negotiation.
type actionView struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	Action      string           `json:"action"`
	receiptView
}

// done prints the result of an action: what happened in a line of text, and the receipt.
func (s *session) done(action *haggle.Action, receipt *haggle.Receipt, happened string) error {
	v := actionView{action.Negotiation, action.Name, viewReceipt(receipt)}
	return s.print(v, happened, v.receiptView.text())
}
