package scenarios

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// reviewWindow is the time to review a claimed milestone, in seconds: an hour, the shortest one.
const reviewWindow = 3_600

// An agreed price is paid tranche by tranche, in whatever order the seller claims, and the last payment
// settles the negotiation.
func TestMilestones(t *testing.T) {
	scenario(t, "milestones_released", func(s *fixture) {
		d := s.bargain(inTranches(s.terms(), s.stranger(), 5_000, 3_000, 2_000))
		d.offers(3_000_000)
		turn := d.state().TurnDeadline
		d.emits(s.do(d.accept(s.seller)), &protocol.OfferAccepted{AcceptedBy: s.seller.PublicKey(), Amount: 3_000_000, Round: 1})
		state := d.state()
		require.Equal(s.t, protocol.NegotiationStatusAccepted, state.Status)
		require.EqualValues(s.t, 3_000_000, state.SettledAmount)
		require.Zero(s.t, state.SettledAt)
		require.Equal(s.t, turn, state.TurnDeadline)
		require.EqualValues(s.t, 1_900_000, s.tokens(s.buyer.account), "the rest of the escrow is refunded at once")
		require.EqualValues(s.t, 3_100_000, s.tokens(d.vault))
		s.refuses(protocol.ErrInvalidState, d.offer(s.seller, 3_000_000), d.accept(s.buyer), d.reject(s.buyer), d.reject(s.seller),
			d.expire(s.buyer), d.close(s.buyer), d.settle(s.buyer))

		tranches := []struct {
			index    uint8
			net, fee uint64
		}{{1, 895_500, 4_500}, {0, 1_492_500, 7_500}, {2, 597_000, 3_000}}
		for _, tranche := range tranches {
			claimed := s.do(d.claimMilestone(s.seller, tranche.index))
			review := d.state().TurnDeadline
			at := d.emits(claimed, &protocol.MilestoneClaimed{
				Index: tranche.index, ReviewDeadline: review, Evidence: deliveryOf(tranche.index),
			})
			require.EqualValues(s.t, at+reviewWindow, review)
			want := []protocol.Event{&protocol.MilestoneReleased{Index: tranche.index, SellerAmount: tranche.net, Fee: tranche.fee}}
			if tranche == tranches[2] {
				want = append(want, d.settlement(1, 3_000_000, 15_000, 100_000))
			}
			d.emits(s.do(d.release(s.buyer, tranche.index)), want...)
		}
		state = d.state()
		require.Equal(s.t, protocol.NegotiationStatusSettled, state.Status)
		require.NotZero(s.t, state.SettledAt)
		require.EqualValues(s.t, 115_000, s.tokens(d.vault), "fee and decay wait for the closing")
		d.closes(s.stranger())
		s.ends(holdings{buyer: 1_900_000, seller: 2_985_000, treasury: 115_000})
	})
}

// The permissions for a tranche in each state. One tranche at a time is under review.
func TestMilestonesKeepToTheRules(t *testing.T) {
	scenario(t, "milestones_keep_to_the_rules", func(s *fixture) {
		arbiter, stranger := s.stranger(), s.stranger()
		d := s.bargain(inTranches(s.terms(), arbiter, 6_000, 4_000))
		half := decision{index: 0, sellerBps: 5_000}
		s.refuses(protocol.ErrInvalidState, d.claimMilestone(s.seller, 0), d.release(s.buyer, 0), d.dispute(s.buyer, 0),
			d.resolve(arbiter, half), d.settle(stranger))
		d.offers(2_000_000)
		s.do(d.accept(s.seller))

		s.refuses(protocol.ErrInvalidParams, d.claimMilestone(s.seller, 2), d.release(s.buyer, 2), d.dispute(s.buyer, 2),
			d.resolve(arbiter, decision{index: 2}), d.claimMilestone(s.seller, 255))
		s.refuses(protocol.ErrInvalidState, d.release(s.buyer, 0), d.dispute(s.buyer, 0), d.resolve(arbiter, half))
		s.refuses(protocol.ErrUnauthorized, d.claimMilestone(s.buyer, 0), d.claimMilestone(arbiter, 0), d.claimMilestone(stranger, 0))
		s.do(d.claimMilestone(s.seller, 0))

		s.refuses(protocol.ErrInvalidState, d.claimMilestone(s.seller, 0), d.claimMilestone(s.seller, 1),
			d.release(s.buyer, 1), d.dispute(s.buyer, 1), d.resolve(arbiter, half), d.settle(stranger))
		s.refuses(protocol.ErrUnauthorized, d.release(s.seller, 0), d.release(arbiter, 0), d.release(stranger, 0),
			d.dispute(s.seller, 0), d.dispute(arbiter, 0), d.dispute(stranger, 0))
		d.emits(s.do(d.dispute(s.buyer, 0)), &protocol.MilestoneDisputed{Index: 0, Evidence: complaintOf(0)})

		s.refuses(protocol.ErrInvalidState, d.claimMilestone(s.seller, 0), d.release(s.buyer, 0), d.dispute(s.buyer, 0),
			d.resolve(arbiter, decision{index: 1}), d.settle(stranger))
		s.refuses(protocol.ErrUnauthorized, d.resolve(s.buyer, half), d.resolve(s.seller, half), d.resolve(stranger, half))
		s.refuses(protocol.ErrInvalidParams, d.resolve(arbiter, decision{index: 0, sellerBps: 10_001}))
		s.do(d.resolve(arbiter, half))
		s.refuses(protocol.ErrInvalidState, d.resolve(arbiter, half), d.claimMilestone(s.seller, 0))

		s.do(d.claimMilestone(s.seller, 1))
		s.do(d.release(s.buyer, 1))
		s.refuses(protocol.ErrInvalidState, d.claimMilestone(s.seller, 1), d.release(s.buyer, 1), d.dispute(s.buyer, 1),
			d.resolve(arbiter, half), d.settle(stranger))
		d.closes(stranger)
		s.ends(holdings{buyer: 2_900_000 + 600_000, seller: 597_000 + 796_000, treasury: 100_000 + 3_000 + 4_000})
	})
}

// Shares that do not divide evenly: a tranche does not depend on the order of decisions, and all steps' fees
// sum to the whole fee.
func TestOddTranches(t *testing.T) {
	scenario(t, "milestones_odd_units", func(s *fixture) {
		d := s.agree(inTranches(s.terms(), s.stranger(), 3_333, 3_333, 3_334), 2_000_003)
		for _, tranche := range []struct {
			index    uint8
			net, fee uint64
		}{{2, 663_468, 3_334}, {0, 663_267, 3_333}, {1, 663_268, 3_333}} {
			s.do(d.claimMilestone(s.seller, tranche.index))
			released := the[*protocol.MilestoneReleased](s.t, s.do(d.release(s.buyer, tranche.index)))
			require.Equal(s.t, tranche.net, released.SellerAmount)
			require.Equal(s.t, tranche.fee, released.Fee)
		}
		d.closes(s.buyer)
		s.ends(holdings{buyer: 2_899_997, seller: 1_990_003, treasury: 100_000 + 10_000})
	})
}

// A disputed tranche waits for the arbiter while the next tranche goes on. The arbiter's split leaves the odd
// unit to the buyer.
func TestDispute(t *testing.T) {
	scenario(t, "milestones_dispute_and_split", func(s *fixture) {
		arbiter := s.stranger()
		d := s.agree(inTranches(s.terms(), arbiter, 6_000, 4_000), 2_000_001)
		s.do(d.claimMilestone(s.seller, 0))
		d.emits(s.do(d.dispute(s.buyer, 0)), &protocol.MilestoneDisputed{Index: 0, Evidence: complaintOf(0)})
		s.do(d.claimMilestone(s.seller, 1))
		d.emits(s.do(d.release(s.buyer, 1)), &protocol.MilestoneReleased{Index: 1, SellerAmount: 796_001, Fee: 4_000})
		require.Equal(s.t, []uint8{0}, d.state().OpenDisputes())
		d.emits(s.do(d.resolve(arbiter, decision{index: 0, sellerBps: 3_333})),
			&protocol.DisputeResolved{Index: 0, SellerAmount: 397_961, Fee: 1_999, BuyerAmount: 800_040},
			d.settlement(1, 1_199_961, 5_999, 100_000))
		d.closes(arbiter)
		s.ends(holdings{buyer: 2_899_999 + 800_040, seller: 796_001 + 397_961, treasury: 100_000 + 5_999})
	})
}

// The arbiter can also decide entirely for the buyer or entirely for the seller.
func TestDisputeOneSided(t *testing.T) {
	scenario(t, "milestones_one_sided_decisions", func(s *fixture) {
		arbiter := s.stranger()
		d := s.agree(inTranches(s.terms(), arbiter, 5_000, 5_000), 2_000_000)
		for index := range uint8(2) {
			s.do(d.claimMilestone(s.seller, index))
			s.do(d.dispute(s.buyer, index))
		}
		require.Equal(s.t, []uint8{0, 1}, d.state().OpenDisputes())
		d.emits(s.do(d.resolve(arbiter, decision{index: 1, sellerBps: 10_000})),
			&protocol.DisputeResolved{Index: 1, SellerAmount: 995_000, Fee: 5_000})
		d.emits(s.do(d.resolve(arbiter, decision{index: 0})),
			&protocol.DisputeResolved{Index: 0, BuyerAmount: 1_000_000},
			d.settlement(1, 1_000_000, 5_000, 100_000))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 2_900_000 + 1_000_000, seller: 995_000, treasury: 105_000})
	})
}

// A tranche that the seller's account cannot receive is recorded; the seller can claim it before the next
// tranches are paid.
func TestUndeliverableTranche(t *testing.T) {
	scenario(t, "milestones_kept_for_a_frozen_seller", func(s *fixture) {
		d := s.agree(inTranches(s.terms(), s.stranger(), 5_000, 5_000), 2_000_000)
		require.NoError(s.t, s.venue.Freeze(s.ctx, s.mint, s.seller.account))
		s.do(d.claimMilestone(s.seller, 0))
		d.emits(s.do(d.release(s.buyer, 0)),
			&protocol.MilestoneReleased{Index: 0, SellerAmount: 995_000, Fee: 5_000},
			&protocol.PayoutRecorded{Party: s.seller.PublicKey(), Amount: 995_000})
		other := s.anotherAccount(s.seller)
		d.isClaimed(s.do(d.claim(s.seller, other)), s.seller, 995_000)
		require.Equal(s.t, protocol.NegotiationStatusAccepted, d.state().Status)
		require.NoError(s.t, s.venue.Thaw(s.ctx, s.mint, s.seller.account))
		s.do(d.claimMilestone(s.seller, 1))
		s.do(d.release(s.buyer, 1))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 2_900_000, seller: 995_000, treasury: 110_000, elsewhere: map[solana.PublicKey]uint64{other: 995_000}})
	})
}

// A buyer that does not act within the review window has agreed: from then on anyone can release, and the
// buyer can no longer dispute.
func TestReleaseAfterTheReviewWindow(t *testing.T) {
	scenarioInTime(t, "milestones_released_after_the_review", func(s *fixture) {
		d := s.agree(inTranches(s.terms(), s.stranger(), 5_000, 5_000), 2_000_000)
		anyone := s.stranger()
		s.do(d.claimMilestone(s.seller, 0))
		s.refuses(protocol.ErrUnauthorized, d.release(anyone, 0), d.release(s.seller, 0))
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, d.state().TurnDeadline))
		s.refuses(protocol.ErrResponseWindowExpired, d.dispute(s.buyer, 0))
		d.emits(s.do(d.release(anyone, 0)), &protocol.MilestoneReleased{Index: 0, SellerAmount: 995_000, Fee: 5_000})
		s.do(d.claimMilestone(s.seller, 1))
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, d.state().TurnDeadline))
		d.emits(s.do(d.release(s.seller, 1)),
			&protocol.MilestoneReleased{Index: 1, SellerAmount: 995_000, Fee: 5_000},
			d.settlement(1, 2_000_000, 10_000, 100_000))
		d.closes(anyone)
		s.ends(holdings{buyer: 2_900_000, seller: 1_990_000, treasury: 110_000})
	})
}

// tightest sets the earliest possible deadline of the milestones.
func tightest(terms haggle.CreateRequest) haggle.CreateRequest {
	terms.Milestones.Delivery = time.Hour
	return terms
}

// Four tranches, each in a different state at the deadline: paid, disputed, under review, unclaimed. The
// arbiter may decide for another day; then anyone can settle the rest.
func TestSettleDeadline(t *testing.T) {
	scenarioInTime(t, "milestones_settle_deadline", func(s *fixture) {
		arbiter, anyone := s.stranger(), s.stranger()
		d := s.agree(tightest(inTranches(s.terms(), arbiter, 2_000, 2_500, 2_500, 3_000)), 2_000_006)
		s.do(d.claimMilestone(s.seller, 0))
		d.emits(s.do(d.release(s.buyer, 0)), &protocol.MilestoneReleased{Index: 0, SellerAmount: 398_001, Fee: 2_000})
		s.do(d.claimMilestone(s.seller, 1))
		s.do(d.dispute(s.buyer, 1))
		s.do(d.claimMilestone(s.seller, 2))
		state := d.state()

		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, state.MilestoneDeadline))
		s.refuses(protocol.ErrInvalidState, d.settle(anyone))
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, state.ArbitrationDeadline()))
		s.refuses(protocol.ErrExpired, d.resolve(arbiter, decision{index: 1, sellerBps: 10_000}))
		d.emits(s.do(d.settle(anyone)),
			&protocol.DeadlineSettled{
				Released: 1 << 2, Split: 1 << 1, Refunded: 1 << 3,
				SellerAmount: 500_002 + 250_000 - 3_750, Fee: 3_750, BuyerAmount: 250_001 + 600_002,
			},
			d.settlement(1, 400_001+250_000+500_002, 5_750, 100_000))
		s.refuses(protocol.ErrInvalidState, d.settle(anyone), d.release(s.buyer, 2), d.claimMilestone(s.seller, 3))
		d.closes(anyone)
		s.ends(holdings{buyer: 2_899_994 + 850_003, seller: 398_001 + 746_252, treasury: 100_000 + 5_750})
	})
}

// Two tranches in every combination of states at the deadline. A split tranche's odd unit goes to the buyer.
func TestSettleDeadlineCombinations(t *testing.T) {
	type reach func(d *deal)
	claimed := func(index uint8) reach { return func(d *deal) { d.do(d.claimMilestone(d.seller, index)) } }
	disputed := func(index uint8) reach {
		return func(d *deal) {
			d.do(d.claimMilestone(d.seller, index))
			d.do(d.dispute(d.buyer, index))
		}
	}
	paid := func(index uint8) reach {
		return func(d *deal) {
			d.do(d.claimMilestone(d.seller, index))
			d.do(d.release(d.buyer, index))
		}
	}
	// The price is 200,003: tranche 0 is 100,001, and tranche 1 is 100,002. Tranches that are not reached
	// stay unclaimed.
	combinations := []struct {
		reach []reach
		want  protocol.DeadlineSettled
	}{
		{nil, protocol.DeadlineSettled{Refunded: 3, BuyerAmount: 200_003}},
		{[]reach{claimed(0)}, protocol.DeadlineSettled{Released: 1, Refunded: 2, SellerAmount: 99_501, Fee: 500, BuyerAmount: 100_002}},
		{[]reach{claimed(1)}, protocol.DeadlineSettled{Released: 2, Refunded: 1, SellerAmount: 99_502, Fee: 500, BuyerAmount: 100_001}},
		{[]reach{disputed(0)}, protocol.DeadlineSettled{Split: 1, Refunded: 2, SellerAmount: 49_750, Fee: 250, BuyerAmount: 150_003}},
		{[]reach{disputed(1)}, protocol.DeadlineSettled{Split: 2, Refunded: 1, SellerAmount: 49_751, Fee: 250, BuyerAmount: 150_002}},
		{[]reach{disputed(0), claimed(1)}, protocol.DeadlineSettled{Released: 2, Split: 1, SellerAmount: 149_252, Fee: 750, BuyerAmount: 50_001}},
		{[]reach{disputed(1), claimed(0)}, protocol.DeadlineSettled{Released: 1, Split: 2, SellerAmount: 149_252, Fee: 750, BuyerAmount: 50_001}},
		{[]reach{disputed(0), disputed(1)}, protocol.DeadlineSettled{Split: 3, SellerAmount: 99_501, Fee: 500, BuyerAmount: 100_002}},
		{[]reach{paid(0)}, protocol.DeadlineSettled{Refunded: 2, BuyerAmount: 100_002}},
		{[]reach{paid(0), claimed(1)}, protocol.DeadlineSettled{Released: 2, SellerAmount: 99_502, Fee: 500}},
		{[]reach{paid(0), disputed(1)}, protocol.DeadlineSettled{Split: 2, SellerAmount: 49_751, Fee: 250, BuyerAmount: 50_001}},
	}
	scenarioInTime(t, "milestones_settle_deadline_combinations", func(s *fixture) {
		none := uint16(0)
		terms := tightest(inTranches(s.termsOf(450_000), s.stranger(), 5_000, 5_000))
		terms.DecayRateBps = &none
		var deals []*deal
		for _, combination := range combinations {
			terms.Key = rand.Text()
			d := s.agree(terms, 200_003)
			for _, reach := range combination.reach {
				reach(d)
			}
			deals = append(deals, d)
		}
		latest := deals[len(deals)-1].state().MilestoneDeadline
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, latest))
		for i, d := range deals {
			if len(d.state().OpenDisputes()) > 0 {
				s.refuses(protocol.ErrInvalidState, d.settle(s.buyer))
			} else {
				d.settlesAtDeadline(combinations[i].want)
			}
		}
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, latest+protocol.MinArbitrationWindow))
		for i, d := range deals {
			if len(d.state().OpenDisputes()) > 0 {
				d.settlesAtDeadline(combinations[i].want)
			}
			d.closes(s.seller)
		}
		s.ends(holdings{buyer: 50_000 + 2_749_967 + 1_050_018, seller: 1_144_265, treasury: 5_750})
	})
}

// settlesAtDeadline settles the undecided tranches, and asserts the event.
func (d *deal) settlesAtDeadline(want protocol.DeadlineSettled) {
	d.t.Helper()
	before := d.state().PaidGross
	paid := before + want.SellerAmount + want.Fee
	d.emits(d.do(d.settle(d.buyer)), &want, d.settlement(1, paid, want.Fee+before/200, 0))
	require.Equal(d.t, protocol.NegotiationStatusSettled, d.state().Status)
}

// The arbiter can decide for a day after the deadline. From the deadline on no tranche can be claimed, and a
// claim must leave the buyer a whole review window.
func TestMilestoneDeadline(t *testing.T) {
	scenarioInTime(t, "milestones_deadline", func(s *fixture) {
		arbiter := s.stranger()
		d := s.agree(tightest(inTranches(s.terms(), arbiter, 5_000, 5_000)), 2_000_000)
		s.do(d.claimMilestone(s.seller, 0))
		s.do(d.dispute(s.buyer, 0))
		deadline := d.state().MilestoneDeadline
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, deadline-reviewWindow+1))
		s.refuses(protocol.ErrResponseWindowExpired, d.claimMilestone(s.seller, 1))
		s.refuses(protocol.ErrInvalidState, d.settle(s.buyer))
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, deadline))
		s.refuses(protocol.ErrExpired, d.claimMilestone(s.seller, 1))
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, deadline+protocol.MinArbitrationWindow-10))
		s.refuses(protocol.ErrInvalidState, d.settle(s.buyer))
		d.emits(s.do(d.resolve(arbiter, decision{index: 0, sellerBps: 7_500})),
			&protocol.DisputeResolved{Index: 0, SellerAmount: 746_250, Fee: 3_750, BuyerAmount: 250_000})
		d.emits(s.do(d.settle(s.stranger())),
			&protocol.DeadlineSettled{Refunded: 1 << 1, BuyerAmount: 1_000_000},
			d.settlement(1, 750_000, 3_750, 100_000))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 2_900_000 + 250_000 + 1_000_000, seller: 746_250, treasury: 103_750})
	})
}
