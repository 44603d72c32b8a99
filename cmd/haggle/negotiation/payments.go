package negotiation

import (
	"context"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// payments holds the amounts paid for decided milestones, including the fee.
type payments struct {
	// of holds the known amounts.
	of map[uint8]uint64
	// byAgreement holds the milestones settled by both parties together, and agreement the combined amount.
	byAgreement map[uint8]bool
	agreement   uint64
}

// paymentsOf returns a negotiation's payments. If the account does not determine the payments, it reads them
// from the history; if the node lacks the history, they are unknown.
func paymentsOf(ctx context.Context, client *haggle.Client, n *haggle.Snapshot) payments {
	known := fromAccount(n)
	if len(known.of) == len(decided(n)) {
		return known
	}
	read := payments{of: map[uint8]uint64{}, byAgreement: map[uint8]bool{}}
	for envelope, err := range client.History(ctx, n.Address) {
		if err != nil {
			return known
		}
		read.add(n, envelope.Event)
	}
	return read
}

// decided returns the decided milestones under an accepted price.
func decided(n *haggle.Snapshot) (found []uint8) {
	for index := range n.MilestoneCount() {
		if n.SettledAmount > 0 && n.MilestoneState(index) == protocol.MilestoneStateDecided {
			found = append(found, index)
		}
	}
	return found
}

// fromAccount returns the payments that the account determines: if the account's total equals the sum of all
// decided tranches, or zero, or if there is a single milestone. Otherwise it returns none.
func fromAccount(n *haggle.Snapshot) payments {
	found := decided(n)
	sum := uint64(0)
	full := map[uint8]uint64{}
	for _, index := range found {
		full[index] = trancheOf(n, index)
		sum += full[index]
	}
	switch {
	case n.PaidGross == sum:
		return payments{of: full}
	case n.PaidGross == 0:
		clear(full)
		for _, index := range found {
			full[index] = 0
		}
		return payments{of: full}
	case len(found) == 1:
		return payments{of: map[uint8]uint64{found[0]: n.PaidGross}}
	}
	return payments{}
}

// add adds an event's payments. A creation starts over, because addresses can be reused.
func (p *payments) add(n *haggle.Snapshot, event protocol.Event) {
	switch event := event.(type) {
	case *protocol.NegotiationCreated:
		*p = payments{of: map[uint8]uint64{}, byAgreement: map[uint8]bool{}}
	case *protocol.MilestoneReleased:
		p.of[event.Index] = event.SellerAmount + event.Fee
	case *protocol.DisputeResolved:
		p.of[event.Index] = event.SellerAmount + event.Fee
	case *protocol.DeadlineSettled:
		for index := range n.MilestoneCount() {
			switch bit := uint8(1) << index; {
			case event.Released&bit != 0:
				p.of[index] = trancheOf(n, index)
			case event.Split&bit != 0:
				p.of[index] = trancheOf(n, index) / 2 // the odd unit is the buyer's
			case event.Refunded&bit != 0:
				p.of[index] = 0
			}
		}
	case *protocol.AgreementSettled:
		p.agreement = event.SellerAmount + event.Fee
		for index := range n.MilestoneCount() {
			if _, before := p.of[index]; !before {
				p.byAgreement[index] = true
			}
		}
	}
}

// trancheOf returns a milestone's share in an agreed price, including for decided milestones.
func trancheOf(n *haggle.Snapshot, index uint8) uint64 {
	agreed := protocol.Negotiation{
		Status: protocol.NegotiationStatusAccepted, SettledAmount: n.SettledAmount, MilestoneBps: n.MilestoneBps,
	}
	tranche, err := agreed.Tranche(index)
	if err != nil {
		return 0 // there is no such milestone
	}
	return tranche
}
