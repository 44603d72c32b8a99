package scenarios

import (
	"encoding/binary"
	"maps"
	"strconv"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// closes closes the deal as some party, and asserts that all accounts are gone and that the buyer received
// all rent.
func (d *deal) closes(by party) *haggle.Receipt {
	d.t.Helper()
	return d.closesWith(d.close(by))
}

func (d *deal) closesWith(closing move) *haggle.Receipt {
	d.t.Helper()
	held := d.lamports(d.address) + d.lamports(d.vault)
	before := d.lamports(d.buyer.PublicKey())
	swept := d.tokens(d.treasuryAccount)
	receipt := d.do(closing)

	closed := the[*protocol.NegotiationClosed](d.t, receipt)
	require.Equal(d.t, d.address, closed.NegotiationID)
	require.Equal(d.t, closing.by.PublicKey(), closed.ClosedBy)
	require.Equal(d.t, d.tokens(d.treasuryAccount)-swept, closed.Swept, "the payment to the treasury")

	if d.wrapped {
		held -= closed.Swept // these lamports are tokens
	}
	if closing.by.PublicKey() == d.buyer.PublicKey() {
		before -= receipt.Fee
	}
	require.Equal(d.t, before+held, d.lamports(d.buyer.PublicKey()), "all rent goes to the buyer")
	d.isGone()
	return receipt
}

// isGone asserts that neither account of the deal exists.
func (d *deal) isGone() {
	d.t.Helper()
	_, err := d.venue.client.Negotiation(d.address).Snapshot(d.ctx)
	require.ErrorIs(d.t, err, protocol.ErrAccountNotFound)
	_, err = d.venue.TokenAccount(d.ctx, d.vault)
	require.ErrorIs(d.t, err, rpc.ErrNotFound)
	require.Zero(d.t, d.lamports(d.address))
	require.Zero(d.t, d.lamports(d.vault))
}

// holdings contains token account balances, in base units.
type holdings struct {
	buyer, seller, treasury uint64
	// elsewhere contains the balances of all accounts other than the three associated accounts.
	elsewhere map[solana.PublicKey]uint64
}

// ends asserts the final balance of every token account of the mint, and an unchanged supply.
func (s *fixture) ends(want holdings) {
	s.t.Helper()
	require.Equal(s.t, s.list(want), s.everyAccount(), "every token account of the mint, by address")
	s.ended = true
}

func (s *fixture) list(want holdings) map[solana.PublicKey]uint64 {
	all := map[solana.PublicKey]uint64{
		s.buyer.account:   want.buyer,
		s.seller.account:  want.seller,
		s.treasuryAccount: want.treasury,
	}
	maps.Copy(all, want.elsewhere)
	maps.DeleteFunc(all, isEmpty)
	var sum uint64
	for _, amount := range all {
		sum += amount
	}
	supply, err := s.venue.Client().GetTokenSupply(s.ctx, s.mint, rpc.CommitmentConfirmed)
	require.NoError(s.t, err)
	require.Equal(s.t, supply.Value.Amount, strconv.FormatUint(sum, 10), "all there is of the mint")
	return all
}

// endsAmong is ends for a shared mint: it reads the three associated accounts alone.
func (s *fixture) endsAmong(want holdings) {
	s.t.Helper()
	require.Equal(s.t, want.buyer, s.tokens(s.buyer.account), "the buyer")
	require.Equal(s.t, want.seller, s.tokens(s.seller.account), "the seller")
	require.Equal(s.t, want.treasury, s.tokens(s.treasuryAccount), "the treasury")
	s.ended = true
}

func isEmpty(_ solana.PublicKey, amount uint64) bool { return amount == 0 }

// everyAccount returns every token account of the mint with a balance, of any owner.
func (s *fixture) everyAccount() map[solana.PublicKey]uint64 {
	accounts, err := s.venue.Client().GetProgramAccountsWithOpts(s.ctx, s.tokenProgram, &rpc.GetProgramAccountsOpts{
		Commitment: rpc.CommitmentConfirmed,
		// No other token program account begins with a mint's address.
		Filters: []rpc.RPCFilter{{Memcmp: &rpc.RPCFilterMemcmp{Offset: 0, Bytes: s.mint.Bytes()}}},
	})
	require.NoError(s.t, err)
	found := map[solana.PublicKey]uint64{}
	for _, account := range accounts {
		found[account.Pubkey] = binary.LittleEndian.Uint64(account.Account.Data.GetBinary()[tokenAmountOffset:])
	}
	maps.DeleteFunc(found, isEmpty)
	return found
}

// tokenAmountOffset is the offset of the amount in token accounts of either program, after mint and owner.
const tokenAmountOffset = 64
