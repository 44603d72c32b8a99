package scenarios

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// The seller's bond is in the vault beside the escrow, is not part of the escrow, and is returned with the
// price.
func TestBond(t *testing.T) {
	scenario(t, "bond_returned_at_settlement", func(s *fixture) {
		d, _ := s.invite(s.termsWithBond())
		require.EqualValues(s.t, bondedEscrow, s.tokens(d.vault))
		s.refuses(protocol.ErrAccountNotEnoughKeys, raw(s.seller, &protocol.AcceptInvitation{
			Seller: s.seller.PublicKey(), Negotiation: d.address, TermsHash: d.state().TermsHash(),
			Decimals: d.decimals(), TokenMint: d.mint,
		}))
		receipt := s.do(d.takePart(s.seller))
		state := d.state()
		d.emits(receipt, &protocol.InvitationAccepted{Seller: s.seller.PublicKey(), Bond: bond, TurnDeadline: state.TurnDeadline})
		require.Equal(s.t, protocol.BondStateHeld, state.BondState)
		require.EqualValues(s.t, bond, state.HeldBond())
		require.EqualValues(s.t, bondedEscrow, state.EffectiveEscrow)
		require.EqualValues(s.t, bondedEscrow+bond, s.tokens(d.vault))
		require.EqualValues(s.t, sellersPurse-bond, s.tokens(s.seller.account))

		d.offers(2_000_000)
		s.refuses(protocol.ErrOfferExceedsEscrow, d.offer(s.seller, 3_841_601)) // the bond cannot be bargained for
		d.emits(s.do(d.accept(s.seller)),
			&protocol.OfferAccepted{AcceptedBy: s.seller.PublicKey(), Amount: 2_000_000, Round: 1},
			d.settlement(1, 2_000_000, 10_000, 80_000),
			d.bondGoesTo(s.seller, protocol.BondReasonSettlement))
		require.Equal(s.t, protocol.BondStateReturned, d.state().BondState)
		require.EqualValues(s.t, 90_000, s.tokens(d.vault))
		d.closes(s.stranger())
		s.ends(holdings{buyer: 400_000 + 1_920_000, seller: 100_000 + bond + 1_990_000, treasury: 90_000})
	})
}

// A party that rejects but has broken no obligation loses no bond, whichever side rejects, at any point.
func TestBondAfterRejection(t *testing.T) {
	t.Parallel()
	for _, ending := range []struct {
		name    string
		by      func(s *fixture) party
		offers  []uint64
		refund  uint64
		decayed uint64
	}{
		{"bond_returned_when_the_buyer_rejects", func(s *fixture) party { return s.buyer }, []uint64{2_000_000}, 3_920_000, 80_000},
		{"bond_returned_when_the_seller_rejects", func(s *fixture) party { return s.seller }, []uint64{2_000_000}, 3_920_000, 80_000},
		{"bond_returned_before_any_offer", func(s *fixture) party { return s.seller }, nil, bondedEscrow, 0},
	} {
		t.Run(ending.name, func(t *testing.T) {
			scenario(t, ending.name, func(s *fixture) {
				d := s.bargain(s.termsWithBond())
				d.offers(ending.offers...)
				rejection := d.rejection(ending.by(s), ending.refund)
				rejection.RoundsCompleted = uint8(len(ending.offers))
				d.emits(s.do(d.reject(ending.by(s))), rejection, d.bondGoesTo(s.seller, protocol.BondReasonNoDeal))
				require.Equal(s.t, protocol.BondStateReturned, d.state().BondState)
				d.closes(s.stranger())
				s.ends(holdings{buyer: 400_000 + ending.refund, seller: sellersPurse, treasury: ending.decayed})
			})
		})
	}
}

// A seller has deposited no bond until accepting the invitation.
func TestBondNeverDeposited(t *testing.T) {
	scenario(t, "bond_never_deposited", func(s *fixture) {
		d, _ := s.invite(s.termsWithBond())
		d.emits(s.do(d.reject(s.seller)), d.rejection(s.seller, bondedEscrow))
		require.Equal(s.t, protocol.BondStateNone, d.state().BondState)
		d.closes(s.seller)
		s.ends(holdings{buyer: 400_000 + bondedEscrow, seller: sellersPurse})
	})
}

// A seller with less than the bond cannot take part; the client reports the missing amount, and the chain
// moves nothing.
func TestBondAboveTheSellersBalance(t *testing.T) {
	scenario(t, "bond_above_the_sellers_balance", func(s *fixture) {
		terms := s.termsWithBond()
		terms.Bond = sellersPurse + 1
		d, _ := s.invite(terms)
		_, err := d.takePart(s.seller).build(s.ctx)
		var insufficient *token.InsufficientFunds
		require.ErrorAs(s.t, err, &insufficient)
		require.Equal(s.t, &token.InsufficientFunds{
			Account: s.seller.account, Mint: s.mint, Have: sellersPurse, Need: sellersPurse + 1,
		}, insufficient)
		require.Equal(s.t, protocol.NegotiationStatusCreated, d.state().Status)
		s.do(d.reject(s.buyer))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 400_000 + bondedEscrow, seller: sellersPurse})
	})
}

// An unanswered offer expires: the silent seller's bond pays the decay to the buyer.
func TestBondAfterExpiry(t *testing.T) {
	scenarioOverTime(t, "bond_pays_the_unanswered_offer", func(s *fixture) {
		terms := s.termsWithBond()
		terms.ResponseWindow = minute
		d := s.bargain(terms)
		d.offers(2_000_000)
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, d.state().TurnDeadline))
		d.emits(s.do(d.expire(s.stranger())),
			&protocol.NegotiationExpired{RefundAmount: 3_920_000, RoundsCompleted: 1},
			&protocol.BondSettled{To: s.buyer.PublicKey(), Amount: 80_000, Reason: protocol.BondReasonNoDeal},
			&protocol.BondSettled{To: s.seller.PublicKey(), Amount: bond - 80_000, Reason: protocol.BondReasonNoDeal})
		d.closes(s.seller)
		s.ends(holdings{buyer: 400_000 + 3_920_000 + 80_000, seller: sellersPurse - 80_000, treasury: 80_000})
	})
}

// The bond pays the buyer the decay of the seller's offer, whoever rejects.
func TestBondPaysTheSellersOffers(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]func(s *fixture) party{
		"buyer": func(s *fixture) party { return s.buyer }, "seller": func(s *fixture) party { return s.seller },
	} {
		t.Run(name, func(t *testing.T) {
			scenario(t, "bond_pays_the_sellers_offer_rejected_by_the_"+name, func(s *fixture) {
				d := s.bargain(s.termsWithBond())
				d.offers(2_000_000, 3_000_000)
				rejection := d.rejection(by(s), 3_841_600)
				rejection.RoundsCompleted = 2
				d.emits(s.do(d.reject(by(s))), rejection,
					&protocol.BondSettled{To: s.buyer.PublicKey(), Amount: 78_400, Reason: protocol.BondReasonNoDeal},
					&protocol.BondSettled{To: s.seller.PublicKey(), Amount: bond - 78_400, Reason: protocol.BondReasonNoDeal})
				require.Equal(s.t, protocol.BondStateSplit, d.state().BondState)
				d.closes(s.stranger())
				s.ends(holdings{buyer: 400_000 + 3_841_600 + 78_400, seller: sellersPurse - 78_400, treasury: 158_400})
			})
		})
	}
}

// A bond that the party's account cannot receive is recorded until the party claims it, and does not delay
// the counterparty. All amounts owed to a party are recorded in a single sum.
func TestBondUndeliverable(t *testing.T) {
	t.Parallel()
	t.Run("returned alone", func(t *testing.T) {
		scenario(t, "bond_kept_for_a_frozen_seller", func(s *fixture) {
			d := s.bargain(s.termsWithBond())
			require.NoError(s.t, s.venue.Freeze(s.ctx, s.mint, s.seller.account))
			receipt := s.do(d.reject(s.buyer))
			d.emits(receipt, d.rejection(s.buyer, bondedEscrow), d.bondGoesTo(s.seller, protocol.BondReasonNoDeal),
				&protocol.PayoutRecorded{Party: s.seller.PublicKey(), Amount: bond})
			d.isKept(receipt, s.seller, bond)
			require.EqualValues(s.t, 400_000+bondedEscrow, s.tokens(s.buyer.account), "the buyer has its money at once")
			other := s.anotherAccount(s.seller)
			d.isClaimed(s.do(d.claim(s.seller, other)), s.seller, bond)
			d.closes(s.buyer)
			s.ends(holdings{
				buyer: 400_000 + bondedEscrow, seller: sellersPurse - bond, elsewhere: map[solana.PublicKey]uint64{other: bond},
			})
		})
	})
	t.Run("returned with the price", func(t *testing.T) {
		scenario(t, "bond_and_price_kept_for_a_frozen_seller", func(s *fixture) {
			d := s.bargain(s.termsWithBond())
			d.offers(2_000_000, 3_000_000)
			require.NoError(s.t, s.venue.Freeze(s.ctx, s.mint, s.seller.account))
			receipt := s.do(d.accept(s.buyer))
			d.emits(receipt,
				&protocol.OfferAccepted{AcceptedBy: s.buyer.PublicKey(), Amount: 3_000_000, Round: 2},
				d.settlement(2, 3_000_000, 15_000, 158_400),
				d.bondGoesTo(s.seller, protocol.BondReasonSettlement),
				&protocol.PayoutRecorded{Party: s.seller.PublicKey(), Amount: 2_985_000 + bond})
			d.isKept(receipt, s.seller, 2_985_000+bond)
			other := s.anotherAccount(s.seller)
			d.isClaimed(d.closesWith(d.closeTo(s.buyer, delivery{toSeller: other})), s.seller, 2_985_000+bond)
			s.ends(holdings{
				buyer: 400_000 + 841_600, seller: sellersPurse - bond, treasury: 15_000 + 158_400,
				elsewhere: map[solana.PublicKey]uint64{other: 2_985_000 + bond},
			})
		})
	})
	t.Run("forfeited with the refund", func(t *testing.T) {
		scenario(t, "bond_and_refund_kept_for_a_frozen_buyer", func(s *fixture) {
			c := s.compare(s.termsWithBond(), 3_000_000, 2_000_000)
			c.reach(sellersReveal)
			require.NoError(s.t, s.venue.Freeze(s.ctx, s.mint, s.buyer.account))
			receipt := s.do(c.reject(s.seller))
			c.emits(receipt, c.rejection(s.seller, bondedEscrow), c.bondGoesTo(s.buyer, protocol.BondReasonForfeit),
				&protocol.PayoutRecorded{Party: s.buyer.PublicKey(), Amount: bondedEscrow + bond})
			require.Equal(s.t, protocol.BondStateForfeited, c.state().BondState)
			c.isKept(receipt, s.buyer, bondedEscrow+bond)
			require.NoError(s.t, s.venue.Thaw(s.ctx, s.mint, s.buyer.account))
			c.isClaimed(s.do(c.claim(s.buyer, s.buyer.account)), s.buyer, bondedEscrow+bond)
			c.closes(s.seller)
			s.ends(holdings{buyer: 400_000 + bondedEscrow + bond, seller: sellersPurse - bond})
		})
	})
}

// If the price is paid in tranches, the bond stays until the last tranche is decided, and is then returned.
func TestBondThroughMilestones(t *testing.T) {
	scenario(t, "bond_returned_with_the_last_milestone", func(s *fixture) {
		d := s.agree(inTranches(s.termsWithBond(), s.stranger(), 5_000, 5_000), 2_000_000)
		require.EqualValues(s.t, bond, d.state().HeldBond())
		s.do(d.claimMilestone(s.seller, 0))
		d.emits(s.do(d.release(s.buyer, 0)), &protocol.MilestoneReleased{Index: 0, SellerAmount: 995_000, Fee: 5_000})
		require.EqualValues(s.t, bond, d.state().HeldBond())
		s.do(d.claimMilestone(s.seller, 1))
		d.emits(s.do(d.release(s.buyer, 1)),
			&protocol.MilestoneReleased{Index: 1, SellerAmount: 995_000, Fee: 5_000},
			d.settlement(1, 2_000_000, 10_000, 80_000),
			d.bondGoesTo(s.seller, protocol.BondReasonSettlement))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 400_000 + 1_920_000, seller: 100_000 + bond + 1_990_000, treasury: 90_000})
	})
}

// The arbiter's decisions return a share of the price to the buyer. The seller forfeits the same share of the
// bond. The release that settles the negotiation needs a buyer account for this share.
func TestBondSplitWithThePrice(t *testing.T) {
	scenario(t, "bond_split_as_the_price", func(s *fixture) {
		arbiter := s.stranger()
		d := s.agree(inTranches(s.termsWithBond(), arbiter, 3_000, 7_000), 2_000_001)
		s.do(d.claimMilestone(s.seller, 0))
		s.do(d.dispute(s.buyer, 0))
		s.do(d.resolve(arbiter, decision{index: 0, sellerBps: 5_000}))
		s.do(d.claimMilestone(s.seller, 1))
		s.refuses(protocol.ErrAccountNotEnoughKeys, raw(s.buyer, &protocol.ReleaseMilestone{
			Releaser: s.buyer.PublicKey(), Negotiation: d.address, SellerTokenAccount: s.seller.account, TokenMint: s.mint,
			TokenProgram: s.tokenProgram, CreatedAt: d.created, Index: 1,
		}))
		// Of 2,000,001 the buyer got 300,000 back, so it gets floor(500,000 × 300,000 / 2,000,001) of the
		// bond.
		d.emits(s.do(d.release(s.buyer, 1)),
			&protocol.MilestoneReleased{Index: 1, SellerAmount: 1_393_001, Fee: 7_000},
			d.settlement(1, 1_700_001, 8_500, 80_000),
			&protocol.BondSettled{To: s.buyer.PublicKey(), Amount: 74_999},
			&protocol.BondSettled{To: s.seller.PublicKey(), Amount: 425_001})
		require.Equal(s.t, protocol.BondStateSplit, d.state().BondState)
		d.closes(s.stranger())
		s.ends(holdings{
			buyer: 400_000 + 1_919_999 + 300_000 + 74_999, seller: 100_000 + 298_500 + 1_393_001 + 425_001, treasury: 88_500,
		})
	})
}
