package scenarios

import (
	"context"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// rareMisses is the number of bumps that the program must try for a party's associated account in these
// scenarios. One party in 4,096 needs so many.
const rareMisses = 12

// withRareAccount returns a party with an associated account that takes the program many bumps to derive.
func (s *fixture) withRareAccount() party {
	s.t.Helper()
	for {
		someone := s.newParty()
		_, bump, err := solana.FindAssociatedTokenAddressWithProgram(someone.PublicKey(), s.mint, s.tokenProgram)
		require.NoError(s.t, err)
		if bump <= 255-rareMisses {
			return someone
		}
	}
}

// interrupted runs a function before signing, which is after the simulation.
type interrupted struct {
	haggle.Signer
	first func()
}

func (i interrupted) SignMessage(ctx context.Context, message []byte) (solana.Signature, error) {
	i.first()
	return i.Signer.SignMessage(ctx, message)
}

// doAfter runs a function between a move's simulation and the signature.
func (s *fixture) doAfter(m move, first func()) *haggle.Receipt {
	s.t.Helper()
	action, err := m.build(s.ctx)
	require.NoError(s.t, err)
	receipt, err := action.Do(s.ctx, interrupted{m.by, first})
	require.NoError(s.t, err)
	return receipt
}

// payment returns the receipt entry for a paid account of a party.
func (s *fixture) payment(to party, account solana.PublicKey, amount uint64) transaction.Payment {
	return transaction.Payment{Account: account, Owner: to.PublicKey(), Mint: s.mint, Amount: amount}
}

// If a counterparty closes the token account between the simulation and the execution, it makes the program
// derive the account's address and record the payment. This exceeds the simulated cost, and must not make the
// acceptance fail: there may be no time for a second attempt.
func TestAccountClosedAfterTheSimulation(t *testing.T) {
	scenario(t, "account_closed_after_the_simulation", func(s *fixture) {
		s.seller = s.withRareAccount()
		require.NoError(s.t, s.venue.Endow(s.ctx, s.mint, localnet.Holding{Owner: s.seller.PublicKey(), Lamports: startLamports}))
		d := s.bargain(s.terms())
		d.offers(2_000_000, 3_000_000)
		action, err := d.accept(s.buyer).build(s.ctx)
		require.NoError(s.t, err)
		simulated, err := action.Simulate(s.ctx)
		require.NoError(s.t, err)
		receipt := s.doAfter(d.accept(s.buyer), func() { s.closeAccount(s.seller) })
		d.isKept(receipt, s.seller, 2_985_000)
		require.Equal(s.t, []transaction.Payment{s.payment(s.buyer, s.buyer.account, 1_802_000)}, receipt.Payments, "the seller is not paid")
		require.LessOrEqual(s.t, receipt.ComputeUnits, uint64(simulated.ComputeLimit))
		if s.tokenProgram == solana.TokenProgramID {
			require.Greater(s.t, receipt.ComputeUnits, simulated.ComputeUnits*110/100+3_000, "more than a fixed margin covers")
		}
		other := s.anotherAccount(s.seller)
		receipt = d.closesWith(d.closeTo(s.buyer, delivery{toSeller: other}))
		require.Contains(s.t, receipt.Payments, s.payment(s.seller, other, 2_985_000))
		s.ends(holdings{
			buyer: 1_802_000, treasury: 15_000 + 198_000, elsewhere: map[solana.PublicKey]uint64{other: 2_985_000},
		})
	})
}

// A reveal that fails costs the bond, although it has published the price.
func TestAccountClosedAfterTheSimulationOfAReveal(t *testing.T) {
	scenario(t, "account_closed_after_the_simulation_of_a_reveal", func(s *fixture) {
		first := s.buyer
		s.buyer = s.withRareAccount()
		require.NoError(s.t, s.venue.Endow(s.ctx, s.mint, localnet.Holding{Owner: s.buyer.PublicKey(), Lamports: startLamports}))
		require.NoError(s.t, s.venue.Transfer(s.ctx, s.mint, first.account, s.buyer.account, first.private, fiveTokens))
		c := s.compare(s.termsWithBond(), 2_000_000, 3_000_000)
		c.reach(sellersReveal)
		other := s.anotherAccount(s.buyer)
		require.NoError(s.t, s.venue.Transfer(s.ctx, s.mint, s.buyer.account, other, s.buyer.private, 400_000))
		receipt := s.doAfter(c.reveal(s.seller, c.sellers), func() { s.closeAccount(s.buyer) })
		require.True(s.t, c.state().EndedWithoutZone())
		c.isKept(receipt, s.buyer, bondedEscrow)
		require.EqualValues(s.t, sellersPurse, s.tokens(s.seller.account), "the seller has its bond at once")
		c.closesWith(c.closeTo(s.seller, delivery{toBuyer: other}))
		s.ends(holdings{seller: sellersPurse, elsewhere: map[solana.PublicKey]uint64{other: 400_000 + bondedEscrow}})
	})
}
