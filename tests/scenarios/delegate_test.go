package scenarios

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/token"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// otherAuthorities lists the ways that another key than the owner's can take tokens from an account.
var otherAuthorities = []struct {
	name string
	set  func(s *fixture, account solana.PublicKey, owner, other party)
}{
	{"a_delegate", func(s *fixture, account solana.PublicKey, owner, other party) {
		require.NoError(s.t, s.venue.approve(s.ctx, account, owner.private, other.PublicKey(), fiveTokens))
	}},
	{"a_close_authority", func(s *fixture, account solana.PublicKey, owner, other party) {
		require.NoError(s.t, s.venue.setAuthority(s.ctx, account, token.AuthorityCloseAccount, owner.private, other.PublicKey()))
	}},
}

// A stranger that expires and closes a negotiation cannot direct the buyer's money to an account that the
// stranger can empty.
func TestStrangerCannotPayASideAccount(t *testing.T) {
	t.Parallel()
	for _, authority := range otherAuthorities {
		name := "side_account_with_" + authority.name
		t.Run(name, func(t *testing.T) {
			scenarioOverTime(t, name, func(s *fixture) {
				terms := s.terms()
				terms.ResponseWindow = minute
				d := s.bargain(terms)
				d.offers(2_000_000)
				thief := s.stranger()
				side := s.anotherAccount(s.buyer)
				authority.set(s, side, s.buyer, thief)
				require.NoError(s.t, s.venue.AdvanceTo(s.ctx, d.state().TurnDeadline))
				s.refuses(protocol.ErrConstraintRaw, swap(d.expire(thief), s.buyer.account, side))

				// If the associated account has the same authority, it is not paid either: the payment is
				// recorded.
				authority.set(s, s.buyer.account, s.buyer, thief)
				receipt := s.do(d.expire(thief))
				d.isKept(receipt, s.buyer, 4_900_000)
				require.Zero(s.t, s.tokens(side)+s.tokens(s.buyer.account))
				s.refuses(protocol.ErrPayoutPending, d.closeTo(thief, delivery{toBuyer: side}), d.close(thief))

				// The client finds an account that the buyer alone controls, and pays it, for every closer.
				clean := s.anotherAccount(s.buyer)
				d.isClaimed(d.closes(thief), s.buyer, 4_900_000)
				s.ends(holdings{treasury: 100_000, elsewhere: map[solana.PublicKey]uint64{clean: 4_900_000}})
			})
		})
	}
}

// Each instruction that pays an unsigned party rejects the party's other accounts; the party itself may use
// them.
func TestOnlyThePartyUsesItsSideAccount(t *testing.T) {
	t.Parallel()
	for _, authority := range otherAuthorities {
		name := "own_account_with_" + authority.name
		t.Run(name, func(t *testing.T) {
			scenario(t, name, func(s *fixture) {
				d := s.bargain(s.terms())
				d.offers(2_000_000)
				thief := s.stranger()
				sides := map[solana.PublicKey]solana.PublicKey{}
				for _, owner := range []party{s.buyer, s.seller} {
					side := s.anotherAccount(owner)
					authority.set(s, side, owner, thief)
					sides[owner.PublicKey()] = side
				}
				buyers, sellers := sides[s.buyer.PublicKey()], sides[s.seller.PublicKey()]
				s.refuses(protocol.ErrConstraintRaw,
					swap(d.accept(s.seller), s.buyer.account, buyers), swap(d.reject(s.seller), s.buyer.account, buyers))
				// The seller signs, so it may be paid there; the buyer's payment goes to the associated
				// account.
				s.do(swap(d.accept(s.seller), s.seller.account, sellers))
				require.EqualValues(s.t, 1_990_000, s.tokens(sellers))
				d.closes(thief)
				s.ends(holdings{
					buyer: 2_900_000, treasury: 10_000 + 100_000, elsewhere: map[solana.PublicKey]uint64{sellers: 1_990_000},
				})
			})
		})
	}
}

// A tranche that anyone can release does not go to another account of the seller either.
func TestReleasedTrancheAndASideAccount(t *testing.T) {
	scenario(t, "tranche_and_a_side_account", func(s *fixture) {
		arbiter := s.stranger()
		d := s.agree(inTranches(s.terms(), arbiter, 5_000, 5_000), 2_000_000)
		side := s.anotherAccount(s.seller)
		require.NoError(s.t, s.venue.approve(s.ctx, side, s.seller.private, arbiter.PublicKey(), fiveTokens))
		s.do(d.claimMilestone(s.seller, 0))
		s.refuses(protocol.ErrConstraintRaw, swap(d.release(s.buyer, 0), s.seller.account, side))
		s.do(d.dispute(s.buyer, 0))
		half := decision{index: 0, sellerBps: 5_000}
		s.refuses(protocol.ErrConstraintRaw, swap(d.resolve(arbiter, half), s.seller.account, side))
		s.do(d.resolve(arbiter, half))
		s.do(d.claimMilestone(s.seller, 1))
		s.do(d.release(s.buyer, 1))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 2_900_000 + 500_000, seller: 497_500 + 995_000, treasury: 100_000 + 2_500 + 5_000})
	})
}
