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

// compareEvents compares each negotiation's events, in block order, with the script.
func (a *audit) compareEvents(r *run) {
	emitted := map[solana.PublicKey][]string{}
	for i := range r.blocks.program {
		for _, event := range r.blocks.program[i].events {
			negotiation, _ := event.NegotiationAddress()
			emitted[negotiation] = append(emitted[negotiation], describe(event))
		}
	}
	for _, n := range r.negotiations {
		var want []string
		for _, event := range n.expectedEvents(r) {
			want = append(want, describe(event))
		}
		if got := emitted[n.address]; !slices.Equal(got, want) {
			a.findings.Add("negotiation %d (%s) has the events\n%q\ninstead of\n%q", n.number, n.address, got,
				want)
		}
		delete(emitted, n.address)
	}
	for negotiation, events := range emitted {
		a.findings.Add("negotiation %s: not created by this run, with the events %q", negotiation, events)
	}
}

// expectedEvents returns the script's events, with all fields shown by describe.
func (n *negotiation) expectedEvents(r *run) []protocol.Event {
	buyer, seller := n.buyer.PublicKey(), n.seller.PublicKey()
	events := []protocol.Event{
		&protocol.NegotiationCreated{
			Buyer: buyer, Seller: seller, EscrowAmount: n.script.escrow, TokenMint: r.mint,
		},
		&protocol.InvitationAccepted{Seller: seller},
	}
	for i, offer := range n.script.offers {
		events = append(events, &protocol.OfferSubmitted{
			Offerer: n.side(offer.side).PublicKey(), Amount: offer.amount, Round: uint8(i + 1),
			EffectiveEscrow: offer.effective,
		})
	}
	ender, rounds := n.side(n.script.ender).PublicKey(), uint8(len(n.script.offers))
	d := n.script.division(r.terms)
	if n.script.accepted {
		events = append(events,
			&protocol.OfferAccepted{AcceptedBy: ender, Amount: n.script.last().amount, Round: rounds},
			&protocol.NegotiationSettled{
				Buyer: buyer, Seller: seller, SettledAmount: n.script.last().amount, TotalRounds: rounds,
				ProtocolFee: d.fee, EscrowDecayTotal: d.decay,
			})
	} else {
		events = append(events, &protocol.NegotiationRejected{
			RejectedBy: ender, RefundAmount: d.refund, RoundsCompleted: rounds,
		})
	}
	closer := n.side(n.script.closer).PublicKey()
	return append(events, &protocol.NegotiationClosed{ClosedBy: closer, Swept: d.swept()})
}

// describe returns an event's parties and amounts as text. If no script causes the event, the text is the
// event type.
func describe(event protocol.Event) string {
	switch e := event.(type) {
	case *protocol.NegotiationCreated:
		return fmt.Sprint("created ", e.Buyer, e.Seller, e.EscrowAmount, e.TokenMint)
	case *protocol.InvitationAccepted:
		return fmt.Sprint("invitation accepted ", e.Seller, e.Bond)
	case *protocol.OfferSubmitted:
		return fmt.Sprint("offer ", e.Offerer, e.Amount, e.Round, e.EffectiveEscrow)
	case *protocol.OfferAccepted:
		return fmt.Sprint("accepted ", e.AcceptedBy, e.Amount, e.Round)
	case *protocol.NegotiationSettled:
		return fmt.Sprint("settled ", e.Buyer, e.Seller, e.SettledAmount, e.TotalRounds, e.ProtocolFee,
			e.EscrowDecayTotal)
	case *protocol.NegotiationRejected:
		return fmt.Sprint("rejected ", e.RejectedBy, e.RefundAmount, e.RoundsCompleted)
	case *protocol.NegotiationClosed:
		return fmt.Sprint("closed ", e.ClosedBy, e.Swept)
	default:
		return fmt.Sprintf("%T", event)
	}
}
