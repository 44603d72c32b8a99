package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Sealed prices that overlap: their midpoint is an offer made by neither side, and either side may accept it.
// The sum of both prices is odd, and the half unit stays with the buyer.
func TestZoneFound(t *testing.T) {
	t.Parallel()
	zone := func(s *fixture) comparison {
		c := s.compare(s.termsWithBond(), 3_000_001, 2_000_000)
		require.EqualValues(s.t, bondedEscrow+bond, s.tokens(c.vault))
		c.emits(s.do(c.step(0)), &protocol.ZopaCommitted{Agent: s.buyer.PublicKey(), Phase: protocol.ZopaPhaseBuyerCommitted})
		c.emits(s.do(c.step(1)), &protocol.ZopaCommitted{Agent: s.seller.PublicKey(), Phase: protocol.ZopaPhaseBothCommitted})
		c.emits(s.do(c.step(2)), &protocol.ZopaRevealed{
			Agent: s.buyer.PublicKey(), Price: 3_000_001, Phase: protocol.ZopaPhaseBothCommitted,
		})
		at := c.emits(s.do(c.step(3)), &protocol.ZopaRevealed{
			Agent: s.seller.PublicKey(), Price: 2_000_000, Phase: protocol.ZopaPhaseRevealed, Midpoint: 2_500_000,
		})
		state := c.state()
		require.Equal(s.t, protocol.NegotiationStatusProposed, state.Status)
		require.True(s.t, state.HasMidpoint())
		require.EqualValues(s.t, 2_500_000, state.CurrentOfferAmount)
		require.Equal(s.t, c.address, state.CurrentOfferBy)
		require.EqualValues(s.t, 3_000_001, state.BuyerPrice)
		require.EqualValues(s.t, 2_000_000, state.SellerPrice)
		require.Equal(s.t, at+defaultResponseWindow, state.TurnDeadline)
		s.refuses(protocol.ErrUnauthorized, c.accept(s.stranger()))
		s.refuses(protocol.ErrNotYourTurn, c.offer(s.seller, 2_600_000))
		s.refuses(protocol.ErrInvalidState, c.commitTo(s.buyer, [32]byte{1}), c.revealOf(s.seller, 2_000_000, [32]byte{}))
		return c
	}
	for _, side := range []struct {
		name string
		of   func(s *fixture) party
	}{
		{"zopa_detection", func(s *fixture) party { return s.buyer }},
		{"zopa_detection_seller_accepts", func(s *fixture) party { return s.seller }},
	} {
		t.Run(side.name, func(t *testing.T) {
			scenario(t, side.name, func(s *fixture) {
				c := zone(s)
				accepting := side.of(s)
				c.emits(s.do(c.accept(accepting)),
					&protocol.OfferAccepted{AcceptedBy: accepting.PublicKey(), Amount: 2_500_000},
					c.settlement(0, 2_500_000, 12_500, 0),
					c.bondGoesTo(s.seller, protocol.BondReasonSettlement))
				require.Equal(s.t, protocol.BondStateReturned, c.state().BondState)
				c.closes(s.stranger())
				s.ends(holdings{buyer: 400_000 + 1_500_000, seller: 100_000 + bond + 2_487_500, treasury: 12_500})
			})
		})
	}
	t.Run("the seller's reveal accepts it", func(t *testing.T) {
		scenario(t, "zopa_detection_accepted_by_the_reveal", func(s *fixture) {
			c := s.compare(s.termsWithBond(), 3_000_001, 2_000_000)
			c.reach(sellersReveal)
			c.emits(s.do(c.reveal(s.seller, c.sellers)),
				&protocol.ZopaRevealed{
					Agent: s.seller.PublicKey(), Price: 2_000_000, Phase: protocol.ZopaPhaseRevealed, Midpoint: 2_500_000,
				},
				&protocol.OfferAccepted{AcceptedBy: s.seller.PublicKey(), Amount: 2_500_000},
				c.settlement(0, 2_500_000, 12_500, 0),
				c.bondGoesTo(s.seller, protocol.BondReasonSettlement))
			// The buyer cannot replace the midpoint by the seller's revealed limit.
			s.refuses(protocol.ErrInvalidState, c.offer(s.buyer, 2_000_000))
			c.closes(s.stranger())
			s.ends(holdings{buyer: 400_000 + 1_500_000, seller: 100_000 + bond + 2_487_500, treasury: 12_500})
		})
	})
	t.Run("the reveal accepts it, with milestones", func(t *testing.T) {
		scenario(t, "zopa_detection_accepted_with_milestones", func(s *fixture) {
			c := s.compare(inTranches(s.termsWithBond(), s.stranger(), 5_000, 5_000), 3_000_000, 2_000_000)
			c.reach(sellersReveal)
			c.emits(s.do(c.reveal(s.seller, c.sellers)),
				&protocol.ZopaRevealed{
					Agent: s.seller.PublicKey(), Price: 2_000_000, Phase: protocol.ZopaPhaseRevealed, Midpoint: 2_500_000,
				},
				&protocol.OfferAccepted{AcceptedBy: s.seller.PublicKey(), Amount: 2_500_000})
			require.Equal(s.t, protocol.NegotiationStatusAccepted, c.state().Status)
			for index := range uint8(2) {
				s.do(c.claimMilestone(s.seller, index))
				s.do(c.release(s.buyer, index))
			}
			c.closes(s.stranger())
			s.ends(holdings{buyer: 400_000 + 1_500_000, seller: 100_000 + bond + 2_487_500, treasury: 12_500})
		})
	})
	t.Run("the reveal accepts it for a frozen account", func(t *testing.T) {
		scenario(t, "zopa_detection_accepted_for_a_frozen_seller", func(s *fixture) {
			c := s.compare(s.termsWithBond(), 3_000_000, 2_000_000)
			c.reach(sellersReveal)
			require.NoError(s.t, s.venue.Freeze(s.ctx, s.mint, s.seller.account))
			s.do(c.reveal(s.seller, c.sellers))
			require.EqualValues(s.t, bond+2_487_500, c.state().ClaimableSeller)
			require.NoError(s.t, s.venue.Thaw(s.ctx, s.mint, s.seller.account))
			s.do(c.claim(s.seller, s.seller.account))
			c.closes(s.stranger())
			s.ends(holdings{buyer: 400_000 + 1_500_000, seller: 100_000 + bond + 2_487_500, treasury: 12_500})
		})
	})
	t.Run("a forged price of the buyer reveals and accepts nothing", func(t *testing.T) {
		scenario(t, "zopa_detection_forged_price", func(s *fixture) {
			c := s.compare(s.termsWithBond(), 3_000_000, 2_000_000)
			c.reach(sellersReveal)
			for _, price := range []uint64{2_000_000, 2_999_998, 4_000_000} {
				forged := *c.state()
				forged.BuyerPrice = price
				s.refuses(protocol.ErrStaleState, move{s.seller, func(ctx context.Context) (*haggle.Action, error) {
					return s.venue.client.At(&forged).RevealZopa(c.sellers).Build(ctx)
				}})
				require.Zero(s.t, c.state().SellerPrice)
			}
			s.do(c.reveal(s.seller, c.sellers))
			c.closes(s.seller)
			s.ends(holdings{buyer: 400_000 + 1_500_000, seller: 100_000 + bond + 2_487_500, treasury: 12_500})
		})
	})
	t.Run("the buyer's first offer replaces it", func(t *testing.T) {
		scenario(t, "zopa_detection_midpoint_replaced", func(s *fixture) {
			c := zone(s)
			midpoint := c.prepare(c.accept(s.seller))
			s.do(c.offer(s.buyer, 2_200_000))
			require.False(s.t, c.state().HasMidpoint())
			s.refuses(protocol.ErrStaleState, midpoint)
			s.refuses(protocol.ErrNotYourTurn, c.accept(s.buyer))
			c.emits(s.do(c.accept(s.seller)),
				&protocol.OfferAccepted{AcceptedBy: s.seller.PublicKey(), Amount: 2_200_000, Round: 1},
				c.settlement(1, 2_200_000, 11_000, 80_000),
				c.bondGoesTo(s.seller, protocol.BondReasonSettlement))
			c.closes(s.seller)
			s.ends(holdings{buyer: 400_000 + 1_720_000, seller: 100_000 + bond + 2_189_000, treasury: 11_000 + 80_000})
		})
	})
	t.Run("a zone of a single price", func(t *testing.T) {
		scenario(t, "zopa_detection_equal_prices", func(s *fixture) {
			c := s.compare(s.termsWithBond(), bondedEscrow, bondedEscrow)
			c.reach(4)
			require.EqualValues(s.t, bondedEscrow, c.state().CurrentOfferAmount)
			s.do(c.accept(s.seller))
			c.closes(s.buyer)
			s.ends(holdings{buyer: 400_000, seller: 100_000 + bond + 3_980_000, treasury: 20_000})
		})
	})
}

// The buyer's price is one unit less than the seller's: the second reveal ends the negotiation, and the
// parties get their deposits back.
func TestNoZone(t *testing.T) {
	scenario(t, "zopa_detection_no_zone", func(s *fixture) {
		c := s.compare(s.termsWithBond(), 2_000_000, 2_000_001)
		c.reach(sellersReveal)
		again := c.prepare(c.step(sellersReveal))
		s.refuses(protocol.ErrAccountNotEnoughKeys, c.revealOf(s.seller, 2_000_001, c.nonceIn(again)))
		c.emits(s.do(c.step(sellersReveal)),
			&protocol.ZopaRevealed{Agent: s.seller.PublicKey(), Price: 2_000_001, Phase: protocol.ZopaPhaseRevealed},
			&protocol.NegotiationRejected{RejectedBy: c.address, RefundAmount: bondedEscrow},
			c.bondGoesTo(s.seller, protocol.BondReasonNoDeal))
		state := c.state()
		require.True(s.t, state.EndedWithoutZone())
		require.Equal(s.t, protocol.BondStateReturned, state.BondState)
		require.Zero(s.t, s.tokens(c.vault))

		s.refuses(protocol.ErrNoZopa,
			c.offer(s.buyer, 1_000_000), c.offer(s.seller, 1_000_000), c.accept(s.buyer), c.accept(s.seller))
		s.refuses(protocol.ErrInvalidState,
			c.reject(s.buyer), c.reject(s.seller), c.expire(s.buyer), c.takePart(s.seller), again, c.commitTo(s.buyer, [32]byte{1}))
		c.closes(s.seller)
		s.ends(holdings{buyer: 400_000 + bondedEscrow, seller: sellersPurse})
	})
}

// A side that misses a step lets the negotiation expire. Only a seller that does not reveal, although the
// buyer has revealed, loses the bond.
func TestStepMissed(t *testing.T) {
	t.Parallel()
	for number, step := range comparisonSteps {
		name := "zopa_timeout_before_" + step.name
		t.Run(name, func(t *testing.T) {
			scenarioOverTime(t, name, func(s *fixture) {
				terms := s.termsWithBond()
				terms.ResponseWindow = minute
				c := s.compare(terms, 3_000_000, 2_000_000)
				c.reach(number)
				due, anyone := c.prepare(c.step(number)), s.stranger()
				s.refuses(protocol.ErrInvalidState, c.expire(anyone))
				require.NoError(s.t, s.venue.AdvanceTo(s.ctx, c.state().TurnDeadline))
				s.refuses(protocol.ErrResponseWindowExpired, due, c.reject(s.buyer), c.reject(s.seller))

				winner, reason := s.seller, protocol.BondReasonNoDeal
				bondState, want := protocol.BondStateReturned, holdings{buyer: 400_000 + bondedEscrow, seller: sellersPurse}
				if number == sellersReveal {
					winner, reason, bondState = s.buyer, protocol.BondReasonForfeit, protocol.BondStateForfeited
					want = holdings{buyer: 400_000 + bondedEscrow + bond, seller: sellersPurse - bond}
				}
				c.emits(s.do(c.expire(anyone)), &protocol.NegotiationExpired{RefundAmount: bondedEscrow}, c.bondGoesTo(winner, reason))
				require.Equal(s.t, bondState, c.state().BondState)
				s.refuses(protocol.ErrInvalidState, due, c.expire(anyone), c.offer(s.buyer, 1_000_000))
				c.closes(anyone)
				s.ends(want)
			})
		})
	}
}

// Either side can reject before each step and at the midpoint. A seller forfeits the bond after the buyer's
// reveal.
func TestRejectionOfComparison(t *testing.T) {
	t.Parallel()
	type point struct {
		name  string
		steps int
	}
	points := []point{{"from_midpoint", len(comparisonSteps)}}
	for number, step := range comparisonSteps {
		points = append(points, point{"before_" + step.name, number})
	}
	for _, point := range points {
		for side, of := range map[string]func(s *fixture) party{
			"buyer": func(s *fixture) party { return s.buyer }, "seller": func(s *fixture) party { return s.seller },
		} {
			name := "zopa_rejection_by_" + side + "_" + point.name
			t.Run(name, func(t *testing.T) {
				scenario(t, name, func(s *fixture) {
					c := s.compare(s.termsWithBond(), 3_000_000, 2_000_000)
					c.reach(point.steps)
					winner, reason := s.seller, protocol.BondReasonNoDeal
					want := holdings{buyer: 400_000 + bondedEscrow, seller: sellersPurse}
					if side == "seller" && point.steps >= sellersReveal {
						winner, reason = s.buyer, protocol.BondReasonForfeit
						want = holdings{buyer: 400_000 + bondedEscrow + bond, seller: sellersPurse - bond}
					}
					c.emits(s.do(c.reject(of(s))), c.rejection(of(s), bondedEscrow), c.bondGoesTo(winner, reason))
					require.Zero(s.t, s.tokens(c.vault))
					c.closes(s.stranger())
					s.ends(want)
				})
			})
		}
	}
}

// A seller that rejects at the midpoint, after the buyer's reveal, loses the bond. The seller agrees to this
// by naming no account for the bond; once the buyer has made an offer, a rejection is free again.
func TestRejectionAfterBothReveals(t *testing.T) {
	t.Parallel()
	t.Run("before the buyer's first offer", func(t *testing.T) {
		scenario(t, "zopa_seller_rejects_after_both_reveals", func(s *fixture) {
			c := s.compare(s.termsWithBond(), 3_000_000, 2_000_000)
			unaware := c.prepare(c.reject(s.seller))
			c.reach(4)
			require.True(s.t, c.state().RejectionForfeitsBond())
			s.refuses(protocol.ErrStaleState, unaware)
			c.emits(s.do(c.reject(s.seller)), c.rejection(s.seller, bondedEscrow), c.bondGoesTo(s.buyer, protocol.BondReasonForfeit))
			require.Equal(s.t, protocol.BondStateForfeited, c.state().BondState)
			c.closes(s.stranger())
			s.ends(holdings{buyer: 400_000 + bondedEscrow + bond, seller: sellersPurse - bond})
		})
	})
	t.Run("after it", func(t *testing.T) {
		scenario(t, "zopa_seller_rejects_after_the_first_offer", func(s *fixture) {
			c := s.compare(s.termsWithBond(), 3_000_000, 2_000_000)
			c.reach(4)
			s.do(c.offer(s.buyer, 2_200_000))
			require.False(s.t, c.state().RejectionForfeitsBond())
			rejection := c.rejection(s.seller, 3_920_000)
			rejection.RoundsCompleted = 1
			c.emits(s.do(c.reject(s.seller)), rejection, c.bondGoesTo(s.seller, protocol.BondReasonNoDeal))
			c.closes(s.stranger())
			s.ends(holdings{buyer: 400_000 + 3_920_000, seller: sellersPurse, treasury: 80_000})
		})
	})
}

// The steps are taken once each, in order and by their side; offers have to wait until the last.
func TestStepsOfComparison(t *testing.T) {
	scenario(t, "zopa_steps_in_order", func(s *fixture) {
		terms := s.termsWithBond()
		terms.Zopa = true
		d, _ := s.invite(terms)
		bytes, stranger := [32]byte{1}, s.stranger()
		s.refuses(protocol.ErrInvalidState, d.commitTo(s.buyer, bytes), d.revealOf(s.buyer, 3_000_000, bytes))
		s.do(d.takePart(s.seller))
		c := comparison{d, d.seal(s.buyer, 3_000_000), d.seal(s.seller, 2_000_000)}
		noOffers := []move{c.offer(s.buyer, 2_000_000), c.offer(s.seller, 2_000_000), c.accept(s.buyer), c.accept(s.seller)}

		s.refuses(protocol.ErrNotYourTurn, c.commitTo(s.seller, bytes))
		s.refuses(protocol.ErrUnauthorized, c.commitTo(stranger, bytes))
		s.refuses(protocol.ErrInvalidParams, c.commitTo(s.buyer, [32]byte{}))
		s.refuses(protocol.ErrInvalidState, append(noOffers, c.revealOf(s.buyer, 3_000_000, bytes), c.revealOf(s.seller, 2_000_000, bytes))...)
		s.do(c.step(0))

		s.refuses(protocol.ErrNotYourTurn, c.commitTo(s.buyer, bytes))
		s.refuses(protocol.ErrUnauthorized, c.commitTo(stranger, bytes))
		s.refuses(protocol.ErrInvalidState, append(noOffers, c.revealOf(s.buyer, 3_000_000, bytes), c.revealOf(s.seller, 2_000_000, bytes))...)
		s.do(c.step(1))

		reveal := c.prepare(c.step(2))
		s.refuses(protocol.ErrNotYourTurn, c.revealOf(s.seller, 2_000_000, bytes))
		s.refuses(protocol.ErrUnauthorized, c.revealOf(stranger, 2_000_000, bytes))
		s.refuses(protocol.ErrInvalidParams,
			c.revealOf(s.buyer, 0, bytes), c.revealOf(s.buyer, bondedEscrow/10-1, bytes), c.revealOf(s.buyer, bondedEscrow+1, bytes))
		s.refuses(protocol.ErrInvalidState, append(noOffers, c.commitTo(s.buyer, bytes), c.commitTo(s.seller, bytes))...)
		s.do(reveal)

		s.refuses(protocol.ErrNotYourTurn, reveal)
		s.refuses(protocol.ErrInvalidState, append(noOffers, c.commitTo(s.buyer, bytes), c.commitTo(s.seller, bytes))...)
		last := c.prepare(c.step(3))
		s.do(last)
		s.refuses(protocol.ErrInvalidState, reveal, last, c.commitTo(s.buyer, bytes), c.commitTo(s.seller, bytes))
		s.do(c.accept(s.buyer))
		s.refuses(protocol.ErrInvalidState, reveal, last)
		c.closes(s.buyer)
		s.ends(holdings{buyer: 400_000 + 1_500_000, seller: 100_000 + bond + 2_487_500, treasury: 12_500})
	})
}

// Terms without sealed prices include no such steps.
func TestTermsWithoutComparison(t *testing.T) {
	scenario(t, "zopa_not_enabled", func(s *fixture) {
		d := s.bargain(s.terms())
		require.Equal(s.t, protocol.ZopaPhaseSkipped, d.state().ZopaPhase)
		s.refuses(protocol.ErrInvalidState,
			d.commitTo(s.buyer, [32]byte{1}), d.commitTo(s.seller, [32]byte{1}), d.revealOf(s.buyer, 1_000_000, [32]byte{1}))
		d.offers(2_000_000)
		s.do(d.accept(s.seller))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 2_900_000, seller: 1_990_000, treasury: 10_000 + 100_000})
	})
}

// If sealed prices were allowed with no bond, a seller could learn the buyer's price for free: such terms are
// rejected.
func TestComparisonRequiresABond(t *testing.T) {
	scenario(t, "zopa_without_a_bond", func(s *fixture) {
		terms := s.terms()
		terms.Zopa = true
		action, err := s.venue.client.CreateNegotiation(terms).Build(s.ctx)
		require.NoError(s.t, err)
		_, err = s.force(s.buyer, action.Instructions...)
		require.ErrorIs(s.t, err, protocol.ErrInvalidParams)
		s.ends(holdings{buyer: fiveTokens})
	})
}

// A reveal must match the commitment, including the nonce.
func TestRevealMustMatch(t *testing.T) {
	scenario(t, "zopa_wrong_price_or_nonce", func(s *fixture) {
		c := s.compare(s.termsWithBond(), 3_000_000, 2_000_000)
		c.reach(2)
		nonce := c.nonceIn(c.step(2))
		wrong := nonce
		wrong[31]++
		s.refuses(protocol.ErrZopaCommitmentMismatch,
			c.revealOf(s.buyer, 3_000_000, wrong), c.revealOf(s.buyer, 3_000_000, [32]byte{}), c.revealOf(s.buyer, 2_999_999, nonce))
		_, err := c.reveal(s.buyer, c.seal(s.buyer, 3_000_000)).build(s.ctx)
		require.ErrorIs(s.t, err, protocol.ErrZopaCommitmentMismatch, "the client does not show a price that would be refused")
		s.forces(c.revealOf(s.buyer, 3_000_000, nonce))
		nonce = c.nonceIn(c.step(3))
		s.refuses(protocol.ErrZopaCommitmentMismatch, c.revealOf(s.seller, 2_000_001, nonce), c.revealOf(s.seller, 2_000_000, wrong))
		s.do(c.step(3))
		s.do(c.accept(s.buyer))
		c.closes(s.buyer)
		s.ends(holdings{buyer: 400_000 + 1_500_000, seller: 100_000 + bond + 2_487_500, treasury: 12_500})
	})
}

// A seller that submits the buyer's own commitment learns the buyer's price and nonce from the reveal, and
// still cannot reveal them: it can only reject, and loses the bond.
func TestCopiedCommitment(t *testing.T) {
	scenario(t, "zopa_copied_commitment", func(s *fixture) {
		c := s.compare(s.termsWithBond(), 3_000_000, 2_000_000)
		s.do(c.step(0))
		copied := c.state().BuyerCommitment
		s.forces(c.commitTo(s.seller, copied))
		require.Equal(s.t, copied, c.state().SellerCommitment)
		published := c.nonceIn(c.step(2))
		s.do(c.step(2))
		s.refuses(protocol.ErrZopaCommitmentMismatch, c.revealOf(s.seller, 3_000_000, published))
		c.emits(s.do(c.reject(s.seller)), c.rejection(s.seller, bondedEscrow), c.bondGoesTo(s.buyer, protocol.BondReasonForfeit))
		c.closes(s.buyer)
		s.ends(holdings{buyer: 400_000 + bondedEscrow + bond, seller: sellersPurse - bond})
	})
}

// A whole response window must remain for the seller's response to a revealed price. If less time is left,
// the buyer's price stays sealed, and neither side is penalized.
func TestRevealLeavesTimeToAnswer(t *testing.T) {
	scenarioOverTime(t, "zopa_reveal_too_late_to_be_answered", func(s *fixture) {
		terms := s.termsWithBond()
		terms.ResponseWindow, terms.Deadline = minute, 110*time.Second
		c := s.compare(terms, 3_000_000, 2_000_000)
		s.do(c.step(0))
		latest := c.state().GlobalDeadline - 60
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, latest-20))
		s.do(c.step(1))
		due := c.prepare(c.step(2))
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, latest+1))
		require.Greater(s.t, c.state().TurnDeadline, latest+1, "it is still the buyer's turn")
		s.refuses(protocol.ErrResponseWindowExpired, due)
		s.refuses(protocol.ErrInvalidState, c.expire(s.seller))
		c.emits(s.do(c.reject(s.seller)), c.rejection(s.seller, bondedEscrow), c.bondGoesTo(s.seller, protocol.BondReasonNoDeal))
		c.closes(s.seller)
		s.ends(holdings{buyer: 400_000 + bondedEscrow, seller: sellersPurse})
	})
}
