package scenarios

import (
	"context"
	"testing"

	"github.com/gagliardetto/solana-go"
	spltoken "github.com/gagliardetto/solana-go/programs/token"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Token-2022's errors for transfers forbidden by account settings.
const (
	tokenImmutableOwner = "0x22"
	tokenCPIGuarded     = 42
)

// reopen creates a party's associated token account again at the same address.
func (s *fixture) reopen(of party) {
	s.t.Helper()
	require.NoError(s.t, s.venue.Endow(s.ctx, s.mint, localnet.Holding{Owner: of.PublicKey()}))
}

func (s *fixture) closeAccount(of party) {
	s.t.Helper()
	require.NoError(s.t, s.venue.CloseTokenAccount(s.ctx, of.account, of.private))
}

func (s *fixture) freeze(account solana.PublicKey) {
	s.t.Helper()
	require.NoError(s.t, s.venue.Freeze(s.ctx, s.mint, account))
}

func (s *fixture) thaw(account solana.PublicKey) {
	s.t.Helper()
	require.NoError(s.t, s.venue.Thaw(s.ctx, s.mint, account))
}

// change keeps a party's associated token account from receiving until undone.
type change struct {
	name string
	// under lists the token programs that allow it.
	under []tokenProgram
	play  func(s *fixture, of party) (undo func())
}

var changes = []change{
	{"frozen_and_thawed", tokenPrograms, func(s *fixture, of party) func() {
		s.freeze(of.account)
		return func() { s.thaw(of.account) }
	}},
	{"closed_and_reopened", tokenPrograms, func(s *fixture, of party) func() {
		s.closeAccount(of)
		return func() { s.reopen(of) }
	}},
	// An account that is closed and reopened is not frozen any longer.
	{"frozen_and_reopened", tokenPrograms, func(s *fixture, of party) func() {
		s.freeze(of.account)
		return func() { s.closeAccount(of); s.reopen(of) }
	}},
	// Token-2022 does not let an associated account change owner.
	{"given_away_and_back", []tokenProgram{splToken}, func(s *fixture, of party) func() {
		accomplice := s.stranger()
		s.give(of, of.account, accomplice)
		return func() { s.give(accomplice, of.account, of) }
	}},
	{"equipped_with_memos_and_relieved", []tokenProgram{token2022}, func(s *fixture, of party) func() {
		require.NoError(s.t, s.venue.requireMemos(s.ctx, of.account, of.private))
		return func() { require.NoError(s.t, s.venue.dropMemos(s.ctx, of.account, of.private)) }
	}},
}

// A change undone before the end does not matter: all parties are paid at once and no payout is recorded.
func TestAccountsRestoredBeforeTheEnd(t *testing.T) {
	t.Parallel()
	for _, change := range changes {
		name := "accounts_" + change.name + "_before_the_end"
		t.Run(name, func(t *testing.T) {
			scenariosUnder(t, change.under, name, func(s *fixture) {
				d := s.bargain(s.terms())
				restoreBuyers, restoreSellers := change.play(s, s.buyer), change.play(s, s.seller)
				d.offers(2_000_000, 3_000_000)
				restoreBuyers()
				restoreSellers()
				receipt := s.do(d.accept(s.buyer))
				require.Len(s.t, receipt.Events, 2, "accepted and settled, and nothing recorded")
				require.EqualValues(s.t, 1_802_000, s.tokens(s.buyer.account))
				require.EqualValues(s.t, 2_985_000, s.tokens(s.seller.account))
				d.closes(s.stranger())
				s.ends(holdings{buyer: 1_802_000, seller: 2_985_000, treasury: 15_000 + 198_000})
			})
		})
	}
}

// A recorded payout is delivered as soon as the party's account can receive again, for every closer.
func TestAccountRestoredAfterTheEnd(t *testing.T) {
	t.Parallel()
	for _, change := range changes {
		name := "account_" + change.name + "_after_the_end"
		t.Run(name, func(t *testing.T) {
			scenariosUnder(t, change.under, name, func(s *fixture) {
				d := s.bargain(s.terms())
				d.offers(2_000_000, 3_000_000)
				restore := change.play(s, s.seller)
				d.isKept(s.do(d.accept(s.buyer)), s.seller, 2_985_000)
				restore()
				d.isClaimed(d.closes(s.stranger()), s.seller, 2_985_000)
				s.ends(holdings{buyer: 1_802_000, seller: 2_985_000, treasury: 15_000 + 198_000})
			})
		})
	}
}

// give transfers a token account to another owner.
func (s *fixture) give(from party, account solana.PublicKey, to party) {
	s.t.Helper()
	require.NoError(s.t, s.venue.setAuthority(s.ctx, account, spltoken.AuthorityAccountOwner, from.private, to.PublicKey()))
}

// A party may be paid to an account other than the associated one. If that account changes while the
// transaction is in flight, so that it is no longer the party's, uses another mint, is closed, or cannot
// receive, the transaction fails and no party loses anything.
func TestNamedAccountChanges(t *testing.T) {
	t.Parallel()
	for _, change := range []struct {
		name  string
		under []tokenProgram
		play  func(s *fixture, key solana.PrivateKey)
	}{
		{"given_away", tokenPrograms, func(s *fixture, key solana.PrivateKey) {
			s.give(s.seller, key.PublicKey(), s.stranger())
		}},
		{"frozen", tokenPrograms, func(s *fixture, key solana.PrivateKey) {
			s.freeze(key.PublicKey())
		}},
		{"closed", tokenPrograms, func(s *fixture, key solana.PrivateKey) {
			require.NoError(s.t, s.venue.CloseTokenAccount(s.ctx, key.PublicKey(), s.seller.private))
		}},
		{"closed_and_reopened_for_another_owner", tokenPrograms, func(s *fixture, key solana.PrivateKey) {
			require.NoError(s.t, s.venue.CloseTokenAccount(s.ctx, key.PublicKey(), s.seller.private))
			require.NoError(s.t, s.venue.CreateTokenAccountAt(s.ctx, s.mint, s.stranger().PublicKey(), key))
		}},
		{"closed_and_reopened_for_another_mint", tokenPrograms, func(s *fixture, key solana.PrivateKey) {
			require.NoError(s.t, s.venue.CloseTokenAccount(s.ctx, key.PublicKey(), s.seller.private))
			require.NoError(s.t, s.venue.CreateTokenAccountAt(s.ctx, s.newMint(), s.seller.PublicKey(), key))
		}},
		{"requiring_memos", []tokenProgram{token2022}, func(s *fixture, key solana.PrivateKey) {
			require.NoError(s.t, s.venue.requireMemos(s.ctx, key.PublicKey(), s.seller.private))
		}},
	} {
		name := "named_account_" + change.name
		t.Run(name, func(t *testing.T) {
			scenariosUnder(t, change.under, name, func(s *fixture) {
				d := s.bargain(s.terms())
				d.offers(2_000_000)
				key := s.newAccount(s.seller)
				acceptance := d.prepare(d.acceptTo(s.seller, key.PublicKey()))
				change.play(s, key)
				s.refuses(protocol.ErrConstraintRaw, acceptance)
				require.EqualValues(s.t, fiveTokens, s.tokens(d.vault))
				s.do(d.accept(s.seller))
				d.closes(s.buyer)
				s.ends(holdings{buyer: 2_900_000, seller: 1_990_000, treasury: 10_000 + 100_000})
			})
		})
	}
}

// An account that the same party has closed and reopened at the same address remains valid.
func TestNamedAccountReopened(t *testing.T) {
	scenario(t, "named_account_reopened", func(s *fixture) {
		d := s.bargain(s.terms())
		d.offers(2_000_000)
		key := s.newAccount(s.seller)
		acceptance := d.prepare(d.acceptTo(s.seller, key.PublicKey()))
		require.NoError(s.t, s.venue.CloseTokenAccount(s.ctx, key.PublicKey(), s.seller.private))
		require.NoError(s.t, s.venue.CreateTokenAccountAt(s.ctx, s.mint, s.seller.PublicKey(), key))
		s.do(acceptance)
		d.closes(s.buyer)
		s.ends(holdings{
			buyer: 2_900_000, treasury: 10_000 + 100_000,
			elsewhere: map[solana.PublicKey]uint64{key.PublicKey(): 1_990_000},
		})
	})
}

// newAccount returns a token account of the party other than the associated account, as the key for the
// account's address.
func (s *fixture) newAccount(of party) solana.PrivateKey {
	s.t.Helper()
	key, err := solana.NewRandomPrivateKey()
	require.NoError(s.t, err)
	require.NoError(s.t, s.venue.CreateTokenAccountAt(s.ctx, s.mint, of.PublicKey(), key))
	return key
}

// acceptTo accepts and pays the seller to the named account.
func (d *deal) acceptTo(by party, sellers solana.PublicKey) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		seen, err := d.venue.client.Negotiation(d.address).Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		return d.venue.client.At(seen).AcceptOffer(by.PublicKey(), 0).PayTo(haggle.TokenAccounts{Seller: sellers}).Build(ctx)
	}}
}

// Token-2022 does not let an associated account change owner, so this cannot stop it from receiving.
func TestAssociatedAccountStays(t *testing.T) {
	scenarioOf(t, "associated_account_stays_its_owners", token2022, func(s *fixture) {
		d := s.bargain(s.terms())
		d.offers(2_000_000)
		err := s.venue.setAuthority(s.ctx, s.seller.account, spltoken.AuthorityAccountOwner, s.seller.private, s.stranger().PublicKey())
		require.ErrorContains(s.t, err, tokenImmutableOwner)
		s.do(d.accept(s.seller))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 2_900_000, seller: 1_990_000, treasury: 10_000 + 100_000})
	})
}

// An account with a CPI guard can be paid, but nothing can be deposited from it.
func TestCPIGuard(t *testing.T) {
	scenarioOf(t, "accounts_with_cpi_guard", token2022, func(s *fixture) {
		d := s.bargain(s.termsOf(4_000_000))
		action, err := s.venue.client.CreateNegotiation(s.termsOf(1_000_000)).Build(s.ctx)
		require.NoError(s.t, err)
		for _, of := range []party{s.buyer, s.seller} {
			require.NoError(s.t, s.venue.guard(s.ctx, of.account, of.private))
		}
		_, err = s.venue.client.CreateNegotiation(s.termsOf(1_000_000)).Build(s.ctx)
		require.ErrorIs(s.t, err, token.ErrCPIGuard, "before anything is signed")
		_, err = s.force(s.buyer, action.Instructions...)
		s.isTokenProgramsRefusal(err, tokenCPIGuarded)

		d.offers(2_000_000)
		s.do(d.accept(s.seller))
		d.closes(s.seller)
		s.ends(holdings{buyer: 1_000_000 + 1_920_000, seller: 1_990_000, treasury: 10_000 + 80_000})
	})
}

// isTokenProgramsRefusal asserts that a transaction has failed with a token program error.
func (s *fixture) isTokenProgramsRefusal(err error, code uint32) {
	s.t.Helper()
	var failure *transaction.Error
	require.ErrorAs(s.t, err, &failure)
	require.Equal(s.t, s.tokenProgram, failure.Program)
	require.Equal(s.t, code, failure.Code)
}

// The issuer freezes the vault during the bargaining and thaws it in time: all parties are paid at once.
func TestVaultThawedInTime(t *testing.T) {
	scenario(t, "vault_frozen_and_thawed_before_the_end", func(s *fixture) {
		d := s.bargain(s.terms())
		s.freeze(d.vault)
		d.offers(2_000_000, 3_000_000)
		s.thaw(d.vault)
		receipt := s.do(d.accept(s.buyer))
		require.Len(s.t, receipt.Events, 2, "accepted and settled, and nothing recorded")
		d.closes(s.buyer)
		s.ends(holdings{buyer: 1_802_000, seller: 2_985_000, treasury: 15_000 + 198_000})
	})
}

// A seller rejects while the vault is frozen: the refund stays in it until the issuer thaws it, and then
// anyone can close.
func TestRejectionWithAFrozenVault(t *testing.T) {
	scenario(t, "vault_frozen_and_seller_rejects", func(s *fixture) {
		d := s.bargain(s.terms())
		d.offers(2_000_000)
		s.freeze(d.vault)
		d.isKept(s.do(d.reject(s.seller)), s.buyer, 4_900_000)
		s.refuses(protocol.ErrPayoutPending, d.claim(s.buyer, s.buyer.account), d.close(s.seller))
		s.thaw(d.vault)
		d.isClaimed(d.closes(s.stranger()), s.buyer, 4_900_000)
		s.ends(holdings{buyer: 4_900_000, treasury: 100_000})
	})
}

// If the treasury's associated account is frozen, another treasury account is paid, which anyone can create.
func TestTreasurysAccountFrozen(t *testing.T) {
	scenario(t, "treasurys_account_frozen", func(s *fixture) {
		d := s.bargain(s.terms())
		d.offers(2_000_000)
		s.do(d.accept(s.seller))
		s.freeze(s.treasuryAccount)
		anyone := s.stranger()
		s.refuses(protocol.ErrPayoutPending, d.close(anyone))
		other, err := s.venue.CreateTokenAccount(s.ctx, s.mint, s.venue.treasury)
		require.NoError(s.t, err)
		s.do(d.close(anyone))
		d.isGone()
		s.ends(holdings{
			buyer: 2_900_000, seller: 1_990_000,
			elsewhere: map[solana.PublicKey]uint64{other: 10_000 + 100_000},
		})
	})
}
