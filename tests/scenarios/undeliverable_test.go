package scenarios

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/token"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// trick makes a party's associated token account unable to receive.
type trick struct {
	name string
	// under lists the token programs that allow it.
	under []tokenProgram
	play  func(s *fixture, of party)
}

var tricks = []trick{
	{"closed", tokenPrograms, func(s *fixture, of party) {
		require.NoError(s.t, s.venue.CloseTokenAccount(s.ctx, of.account, of.private))
	}},
	{"frozen", tokenPrograms, func(s *fixture, of party) {
		require.NoError(s.t, s.venue.Freeze(s.ctx, s.mint, of.account))
	}},
	// Token-2022 does not let an associated account change owner.
	{"given_away", []tokenProgram{splToken}, func(s *fixture, of party) {
		accomplice := s.stranger()
		require.NoError(s.t, s.venue.setAuthority(s.ctx, of.account, token.AuthorityAccountOwner, of.private, accomplice.PublicKey()))
	}},
	{"requiring_memos", []tokenProgram{token2022}, func(s *fixture, of party) {
		require.NoError(s.t, s.venue.requireMemos(s.ctx, of.account, of.private))
	}},
}

// Whatever a party does to an account, the counterparty is not blocked: the negotiation ends, undeliverable
// payments are recorded, and it cannot be closed before they are paid.
func TestUndeliverableToTheBuyer(t *testing.T) {
	t.Parallel()
	for _, trick := range tricks {
		rejected := "buyers_account_" + trick.name + "_and_seller_rejects"
		t.Run(rejected, func(t *testing.T) {
			scenariosUnder(t, trick.under, rejected, func(s *fixture) {
				d := s.bargain(s.terms())
				d.offers(2_000_000)
				trick.play(s, s.buyer)
				receipt := s.do(d.reject(s.seller))
				d.isKept(receipt, s.buyer, 4_900_000)

				other := s.anotherAccount(s.buyer)
				d.isClaimed(s.do(d.claim(s.buyer, other)), s.buyer, 4_900_000)
				require.EqualValues(s.t, 4_900_000, s.tokens(other))
				d.closes(s.seller)
				s.ends(holdings{treasury: 100_000, elsewhere: map[solana.PublicKey]uint64{other: 4_900_000}})
			})
		})
		accepted := "buyers_account_" + trick.name + "_and_seller_accepts"
		t.Run(accepted, func(t *testing.T) {
			scenariosUnder(t, trick.under, accepted, func(s *fixture) {
				d := s.bargain(s.terms())
				d.offers(2_000_000)
				trick.play(s, s.buyer)
				receipt := s.do(d.accept(s.seller))
				d.isKept(receipt, s.buyer, 2_900_000)
				require.EqualValues(s.t, 1_990_000, s.tokens(s.seller.account), "the seller has its money at once")

				other := s.anotherAccount(s.buyer)
				receipt = d.closesWith(d.closeTo(s.seller, delivery{toBuyer: other}))
				d.isClaimed(receipt, s.buyer, 2_900_000)
				s.ends(holdings{
					seller: 1_990_000, treasury: 10_000 + 100_000,
					elsewhere: map[solana.PublicKey]uint64{other: 2_900_000},
				})
			})
		})
	}
}

func TestUndeliverableToTheSeller(t *testing.T) {
	t.Parallel()
	for _, trick := range tricks {
		name := "sellers_account_" + trick.name + "_and_buyer_accepts"
		t.Run(name, func(t *testing.T) {
			scenariosUnder(t, trick.under, name, func(s *fixture) {
				d := s.bargain(s.terms())
				d.offers(2_000_000, 3_000_000)
				trick.play(s, s.seller)
				receipt := s.do(d.accept(s.buyer))
				d.isKept(receipt, s.seller, 2_985_000)
				require.EqualValues(s.t, 1_802_000, s.tokens(s.buyer.account), "the buyer has its money at once")

				other := s.anotherAccount(s.seller)
				receipt = d.closesWith(d.closeTo(s.buyer, delivery{toSeller: other}))
				d.isClaimed(receipt, s.seller, 2_985_000)
				s.ends(holdings{
					buyer: 1_802_000, treasury: 15_000 + 198_000,
					elsewhere: map[solana.PublicKey]uint64{other: 2_985_000},
				})
			})
		})
	}
}

// A party may direct a payout to any account, but only the whole payout, once.
func TestClaimToAnyAccount(t *testing.T) {
	scenario(t, "claim_to_any_account", func(s *fixture) {
		d := s.bargain(s.terms())
		d.offers(2_000_000, 3_000_000)
		require.NoError(s.t, s.venue.Freeze(s.ctx, s.mint, s.seller.account))
		s.do(d.accept(s.buyer))
		friend := s.stranger()
		account := s.anotherAccount(friend)

		s.refuses(protocol.ErrUnauthorized, d.claimOf(friend, account, 2_985_000))
		s.refuses(protocol.ErrStaleState, d.claimOf(s.seller, account, 2_984_999), d.claimOf(s.buyer, account, 2_985_000))
		s.refuses(protocol.ErrInvalidParams, d.claimOf(s.seller, account, 0))
		s.refuses(protocol.ErrConstraintRaw, d.claimOf(s.seller, s.seller.account, 2_985_000), d.claimOf(s.seller, d.vault, 2_985_000))
		d.isClaimed(s.do(d.claim(s.seller, account)), s.seller, 2_985_000)
		s.refuses(protocol.ErrStaleState, d.claimOf(s.seller, account, 2_985_000))
		d.closes(friend)
		s.ends(holdings{
			buyer: 1_802_000, treasury: 15_000 + 198_000,
			elsewhere: map[solana.PublicKey]uint64{account: 2_985_000},
		})
	})
}

// Both accounts are frozen: both amounts are recorded, and after thawing anyone can close and deliver.
func TestBothAccountsFrozen(t *testing.T) {
	scenario(t, "both_accounts_frozen", func(s *fixture) {
		d := s.bargain(s.terms())
		d.offers(2_000_000)
		for _, party := range []party{s.buyer, s.seller} {
			require.NoError(s.t, s.venue.Freeze(s.ctx, s.mint, party.account))
		}
		s.do(d.accept(s.seller))
		state := d.state()
		require.EqualValues(s.t, 2_900_000, state.ClaimableBuyer)
		require.EqualValues(s.t, 1_990_000, state.ClaimableSeller)
		require.EqualValues(s.t, fiveTokens, s.tokens(d.vault))

		anyone := s.stranger()
		s.refuses(protocol.ErrPayoutPending, d.close(anyone))
		require.NoError(s.t, s.venue.Thaw(s.ctx, s.mint, s.buyer.account))
		s.refuses(protocol.ErrPayoutPending, d.close(anyone))
		require.NoError(s.t, s.venue.Thaw(s.ctx, s.mint, s.seller.account))
		d.closes(anyone)
		s.ends(holdings{buyer: 2_900_000, seller: 1_990_000, treasury: 10_000 + 100_000})
	})
}

// The mint's issuer freezes the vault itself: the negotiation still ends, and the payments wait for the thaw.
func TestFrozenVault(t *testing.T) {
	scenario(t, "frozen_vault", func(s *fixture) {
		d := s.bargain(s.terms())
		d.offers(2_000_000)
		require.NoError(s.t, s.venue.Freeze(s.ctx, s.mint, d.vault))
		receipt := s.do(d.accept(s.seller))
		require.Equal(s.t, protocol.NegotiationStatusSettled, d.state().Status)
		require.Len(s.t, receipt.Events, 4, "accepted, settled, and two payouts recorded")
		s.refuses(protocol.ErrPayoutPending, d.claim(s.seller, s.seller.account), d.claim(s.buyer, s.buyer.account), d.close(s.buyer))
		require.NoError(s.t, s.venue.Thaw(s.ctx, s.mint, d.vault))
		d.isClaimed(s.do(d.claim(s.seller, s.seller.account)), s.seller, 1_990_000)
		d.isClaimed(d.closes(s.seller), s.buyer, 2_900_000)
		s.ends(holdings{buyer: 2_900_000, seller: 1_990_000, treasury: 10_000 + 100_000})
	})
}

// A transaction's sender can choose neither an account not owned by the party nor an account that fails to
// receive.
func TestPayoutCannotBeDiverted(t *testing.T) {
	scenario(t, "payout_cannot_be_diverted", func(s *fixture) {
		d := s.bargain(s.terms())
		d.offers(2_000_000)
		thief := s.stranger()
		stolen := s.anotherAccount(thief)
		frozen := s.anotherAccount(s.buyer)
		require.NoError(s.t, s.venue.Freeze(s.ctx, s.mint, frozen))
		for _, other := range []solana.PublicKey{stolen, frozen, s.seller.account, d.vault} {
			s.refuses(protocol.ErrConstraintRaw,
				swap(d.accept(s.seller), s.buyer.account, other),
				swap(d.reject(s.seller), s.buyer.account, other))
		}
		s.refuses(protocol.ErrConstraintRaw, swap(d.accept(s.seller), s.seller.account, stolen))
		s.do(d.accept(s.seller))
		s.refuses(protocol.ErrConstraintRaw, swap(d.close(thief), s.treasuryAccount, stolen))
		s.refuses(protocol.ErrPayoutPending, swap(d.close(thief), s.treasuryAccount, protocol.ProgramID)) // none at all
		s.refuses(protocol.ErrConstraintHasOne, swap(d.close(s.seller), s.buyer.PublicKey(), thief.PublicKey()))
		d.closes(thief)
		s.ends(holdings{buyer: 2_900_000, seller: 1_990_000, treasury: 10_000 + 100_000})
	})
}

// If the treasury lacks an account for the mint, the closer creates it.
func TestTreasuryWithoutAnAccount(t *testing.T) {
	scenario(t, "treasury_without_an_account", func(s *fixture) {
		s.changeMint()
		d := s.bargain(s.terms())
		d.offers(2_000_000)
		s.do(d.accept(s.seller))
		_, err := s.venue.TokenAccount(s.ctx, s.treasuryAccount)
		require.Error(s.t, err)
		d.closes(s.stranger())
		s.ends(holdings{buyer: 2_900_000, seller: 1_990_000, treasury: 10_000 + 100_000})
	})
}

// changeMint replaces the scenario's mint by a mint with accounts for the buyer and the seller only.
func (s *fixture) changeMint() {
	s.use(s.newMint())
	s.endow()
}

// isKept asserts that the party's undeliverable amount is recorded, and that closing waits for it.
func (d *deal) isKept(receipt *haggle.Receipt, party party, amount uint64) {
	d.t.Helper()
	state := d.state()
	require.True(d.t, state.IsOver())
	kept := map[bool]uint64{true: state.ClaimableBuyer, false: state.ClaimableSeller}
	ofBuyer := party.PublicKey() == d.buyer.PublicKey()
	require.Equal(d.t, amount, kept[ofBuyer])
	require.Zero(d.t, kept[!ofBuyer])

	recorded := the[*protocol.PayoutRecorded](d.t, receipt)
	require.Equal(d.t, &protocol.PayoutRecorded{
		NegotiationID: d.address, Party: party.PublicKey(), Amount: amount, Timestamp: recorded.Timestamp,
	}, recorded)
	d.refuses(protocol.ErrPayoutPending, d.closeUndelivered(d.stranger()))
}

func (d *deal) isClaimed(receipt *haggle.Receipt, party party, amount uint64) {
	d.t.Helper()
	claimed := the[*protocol.PayoutClaimed](d.t, receipt)
	require.Equal(d.t, &protocol.PayoutClaimed{
		NegotiationID: d.address, Party: party.PublicKey(), Amount: amount, Timestamp: claimed.Timestamp,
	}, claimed)
}
