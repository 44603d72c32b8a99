package negotiation

import (
	"testing"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// agreed is a negotiation for 1001 base units in three milestones, all decided.
func agreed(paid uint64) *haggle.Snapshot {
	n := &haggle.Snapshot{}
	n.Status, n.SettledAmount, n.PaidGross = protocol.NegotiationStatusSettled, 1_001, paid
	n.MilestoneBps = [8]uint16{2_000, 3_000, 5_000}
	n.MilestonesDecided = 0b111
	return n
}

func TestTheAccountDeterminesPaymentsInFullAndNone(t *testing.T) {
	require.Equal(t, map[uint8]uint64{0: 200, 1: 300, 2: 501}, fromAccount(agreed(1_001)).of)
	require.Equal(t, map[uint8]uint64{0: 0, 1: 0, 2: 0}, fromAccount(agreed(0)).of)
	require.Empty(t, fromAccount(agreed(700)).of)
	n := agreed(120)
	n.Status, n.MilestonesDecided = protocol.NegotiationStatusAccepted, 0b001
	require.Equal(t, map[uint8]uint64{0: 120}, fromAccount(n).of)
}

func TestTheHistoryHasThePaymentOfEachMilestone(t *testing.T) {
	for name, test := range map[string]struct {
		events []protocol.Event
		of     map[uint8]uint64
		by     map[uint8]bool
	}{
		"a dispute": {
			[]protocol.Event{
				&protocol.MilestoneReleased{Index: 0, SellerAmount: 199, Fee: 1},
				&protocol.DisputeResolved{Index: 1, SellerAmount: 74, Fee: 1, BuyerAmount: 225},
			}, map[uint8]uint64{0: 200, 1: 75}, map[uint8]bool{},
		},
		"a deadline": {
			[]protocol.Event{&protocol.DeadlineSettled{Released: 0b001, Split: 0b100, Refunded: 0b010}},
			map[uint8]uint64{0: 200, 1: 0, 2: 250}, map[uint8]bool{},
		},
		"an agreement": {
			[]protocol.Event{
				&protocol.MilestoneReleased{Index: 1, SellerAmount: 299, Fee: 1},
				&protocol.AgreementSettled{SellerAmount: 348, Fee: 2, BuyerAmount: 351},
			}, map[uint8]uint64{1: 300}, map[uint8]bool{0: true, 2: true},
		},
		"an earlier negotiation at the address": {
			[]protocol.Event{&protocol.MilestoneReleased{Index: 0, SellerAmount: 9}, &protocol.NegotiationCreated{}},
			map[uint8]uint64{}, map[uint8]bool{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := payments{of: map[uint8]uint64{}, byAgreement: map[uint8]bool{}}
			for _, event := range test.events {
				p.add(agreed(500), event)
			}
			require.Equal(t, test.of, p.of)
			require.Equal(t, test.by, p.byAgreement)
		})
	}
}
