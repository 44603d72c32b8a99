package load

import (
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// compareSignatures requires that the blocks contain every recorded transaction, and that every transaction
// in the blocks is recorded.
func (a *audit) compareSignatures(records []record, blocks *blockReader) {
	recorded := map[solana.Signature]*record{}
	for i := range records {
		if entry := &records[i]; !entry.signature.IsZero() {
			recorded[entry.signature] = entry
		}
	}
	for _, transactions := range [][]landed{blocks.program, blocks.plain} {
		for i := range transactions {
			transaction := &transactions[i]
			entry := recorded[transaction.signature]
			delete(recorded, transaction.signature)
			switch {
			case entry == nil:
				a.findings.Add("transaction %s: in block %d, but not recorded", transaction.signature,
					transaction.slot)
			case entry.done == transaction.failed:
				a.findings.Add("transaction %s: recorded as %q, but failed is %v in its block",
					transaction.signature, entry.outcome, transaction.failed)
			case entry.done && entry.slot != transaction.slot:
				a.findings.Add("transaction %s: recorded in slot %d, but in block %d",
					transaction.signature, entry.slot, transaction.slot)
			case entry.negotiation != nil && entry.action != transaction.instruction:
				a.findings.Add("transaction %s: recorded as %s, but %s in its block",
					transaction.signature, entry.action, transaction.instruction)
			}
		}
	}
	for signature, entry := range recorded {
		a.findings.Add("transaction %s (%s, %s): in no block", signature, entry.action, entry.outcome)
	}
}

// compareEvents compares each negotiation's events, in the order of the blocks, with its script.
func (a *audit) compareEvents(r *run) {
	emitted := map[solana.PublicKey][]string{}
	for i := range r.blocks.program {
		for _, event := range r.blocks.program[i].events {
			negotiation, text := describe(event)
			emitted[negotiation] = append(emitted[negotiation], text)
		}
	}
	for _, n := range r.negotiations {
		if got, want := emitted[n.address], n.expectedEvents(r); !slices.Equal(got, want) {
			a.findings.Add("negotiation %d (%s) has the events\n%q\ninstead of\n%q", n.number, n.address, got,
				want)
		}
		delete(emitted, n.address)
	}
	for negotiation, events := range emitted {
		a.findings.Add("negotiation %s: not created by this run, with the events %q", negotiation, events)
	}
}

func (n *negotiation) expectedEvents(r *run) []string {
	expect := func(event protocol.Event) string {
		_, text := describe(event)
		return text
	}
	buyer, seller := n.buyer.PublicKey(), n.seller.PublicKey()
	events := []string{
		expect(&protocol.NegotiationCreated{
			NegotiationID: n.address, Buyer: buyer, Seller: seller, EscrowAmount: n.script.escrow,
			TokenMint: r.mint,
		}),
		expect(&protocol.InvitationAccepted{NegotiationID: n.address, Seller: seller}),
	}
	for i, offer := range n.script.offers {
		events = append(events, expect(&protocol.OfferSubmitted{
			NegotiationID: n.address, Offerer: n.side(offer.side).PublicKey(), Amount: offer.amount,
			Round: uint8(i + 1), EffectiveEscrow: offer.effective,
		}))
	}
	ender, rounds := n.side(n.script.ender).PublicKey(), uint8(len(n.script.offers))
	d := n.script.division(r.terms)
	if n.script.accepted {
		events = append(events,
			expect(&protocol.OfferAccepted{NegotiationID: n.address, AcceptedBy: ender,
				Amount: n.script.last().amount, Round: rounds}),
			expect(&protocol.NegotiationSettled{
				NegotiationID: n.address, Buyer: buyer, Seller: seller, SettledAmount: n.script.last().amount,
				TotalRounds: rounds,
				ProtocolFee: d.fee, EscrowDecayTotal: d.decay,
			}))
	} else {
		events = append(events, expect(&protocol.NegotiationRejected{
			NegotiationID: n.address, RejectedBy: ender, RefundAmount: d.refund, RoundsCompleted: rounds,
		}))
	}
	return append(events, expect(&protocol.NegotiationClosed{
		NegotiationID: n.address, ClosedBy: n.side(n.script.closer).PublicKey(), Swept: d.swept(),
	}))
}

// describe returns an event's negotiation, and its parties and amounts as text. The text of an event that no
// script causes is its type.
func describe(event protocol.Event) (negotiation solana.PublicKey, text string) {
	switch e := event.(type) {
	case *protocol.NegotiationCreated:
		return e.NegotiationID, fmt.Sprint("created ", e.Buyer, e.Seller, e.EscrowAmount, e.TokenMint)
	case *protocol.InvitationAccepted:
		return e.NegotiationID, fmt.Sprint("invitation accepted ", e.Seller, e.Bond)
	case *protocol.OfferSubmitted:
		return e.NegotiationID, fmt.Sprint("offer ", e.Offerer, e.Amount, e.Round, e.EffectiveEscrow)
	case *protocol.OfferAccepted:
		return e.NegotiationID, fmt.Sprint("accepted ", e.AcceptedBy, e.Amount, e.Round)
	case *protocol.NegotiationSettled:
		return e.NegotiationID, fmt.Sprint("settled ", e.Buyer, e.Seller, e.SettledAmount, e.TotalRounds,
			e.ProtocolFee, e.EscrowDecayTotal)
	case *protocol.NegotiationRejected:
		return e.NegotiationID, fmt.Sprint("rejected ", e.RejectedBy, e.RefundAmount, e.RoundsCompleted)
	case *protocol.NegotiationClosed:
		return e.NegotiationID, fmt.Sprint("closed ", e.ClosedBy, e.Swept)
	default:
		return solana.PublicKey{}, fmt.Sprintf("%T", event)
	}
}
