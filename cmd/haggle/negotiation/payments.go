package negotiation

import (
	"context"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// payments are the amounts that were paid of the decided milestones, the fee included.
type payments struct {
	// of has the amounts that are known.
	of map[uint8]uint64
	// byAgreement are the milestones that both parties settled together, and agreement the amount for all of
	// them.
	byAgreement map[uint8]bool
	agreement   uint64
}

// paymentsOf returns the payments of a negotiation. If the account does not determine them, it reads them from
// the history; if the node does not have that, they are unknown.
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

// decided returns the decided milestones of an accepted price.
func decided(n *haggle.Snapshot) (found []uint8) {
	for index := range n.MilestoneCount() {
		if n.SettledAmount > 0 && n.MilestoneState(index) == protocol.MilestoneStateDecided {
			found = append(found, index)
		}
	}
	return found
}

// fromAccount returns the payments that the account determines: its total is the sum of all decided tranches,
// or zero, or that of a single milestone. Otherwise it returns none.
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

// add adds the payments of an event. A creation begins anew: an address can be used again.
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

// trancheOf returns a milestone's part of an agreed price, also of a decided milestone.
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
