package onchain

import (
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/result"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/jsonview"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ReceiptView contains a confirmed transaction's cost and events. If the node lacks the transaction's details,
// the cost is left out and events may be missing.
type ReceiptView struct {
	Signature      solana.Signature `json:"signature"`
	Slot           uint64           `json:"slot"`
	ComputeUnits   uint64           `json:"compute_units,omitempty"`
	FeeLamports    uint64           `json:"fee_lamports,omitempty"`
	ConfirmationMS int64            `json:"confirmation_ms"`
	Events         []jsonview.List  `json:"events"`
	// Payments lists the token accounts paid by the transaction.
	Payments []paymentView `json:"payments,omitempty"`
}

// paymentView is a token account's received amount, in the mint's base units.
type paymentView struct {
	Account   solana.PublicKey `json:"account"`
	Owner     solana.PublicKey `json:"owner"`
	Mint      solana.PublicKey `json:"mint"`
	BaseUnits uint64           `json:"base_units,string"`
}

func viewReceipt(r *haggle.Receipt) ReceiptView {
	v := ReceiptView{
		Signature: r.Signature, Slot: r.Slot, ComputeUnits: r.ComputeUnits, FeeLamports: r.Fee,
		ConfirmationMS: r.Elapsed.Milliseconds(), Events: []jsonview.List{},
	}
	for _, event := range r.Events {
		v.Events = append(v.Events, EventFields(event))
	}
	for _, p := range r.Payments {
		v.Payments = append(v.Payments, paymentView{p.Account, p.Owner, p.Mint, p.Amount})
	}
	return v
}

// Text describes the cost for people.
func (v ReceiptView) Text() string {
	return format.Rows{
		{"signature", v.Signature.String()},
		{"cost", v.cost()},
		{"confirmed", "after " + (time.Duration(v.ConfirmationMS) * time.Millisecond).String()},
	}.String()
}

func (v ReceiptView) cost() string {
	if v.ComputeUnits == 0 {
		return "unknown: the node does not have the transaction's details"
	}
	return fmt.Sprintf("%d compute units, %s", v.ComputeUnits, amount.SOL(v.FeeLamports))
}

// View is the result when a command has changed state on chain.
type View struct {
	// Negotiation is unset for configuration actions.
	Negotiation solana.PublicKey `json:"negotiation,omitzero"`
	// Action is the instruction's name in the IDL, and Result its effect: "offer accepted".
	Action string `json:"action"`
	Result string `json:"result"`
	// DoneAlready reports whether this command sent nothing because an earlier command has sent the
	// transaction.
	DoneAlready bool `json:"done_already,omitempty"`
	ReceiptView
}

// ViewOf describes a confirmed action.
func ViewOf(negotiation solana.PublicKey, instruction string, receipt *Receipt) View {
	return View{
		negotiation, instruction, result.Of(instruction), receipt.Repeated, viewReceipt(receipt.Receipt),
	}
}

// Print prints an action's result: a line about the effect, then the receipt.
func Print(s *session.Session, action *haggle.Action, receipt *Receipt, effect string) error {
	v := ViewOf(action.Negotiation, action.Name, receipt)
	return s.Print(v, effect, v.Text())
}

// EventFields returns an event for JSON: name and fields, formatted by [jsonview.Of].
func EventFields(event protocol.Event) jsonview.List {
	return append(jsonview.List{{Name: "event", Value: event.EventName()}}, jsonview.Of(event)...)
}
