package demo

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// sound returns an account that passes check.
func sound() *Account {
	buying, selling := solana.PublicKey{1}, solana.PublicKey{2}
	return &Account{
		Before: map[string]Holding{buyer: {100_000_000, 10_000}, seller: {0, 5_000}, treasury: {7, 0}},
		After:  map[string]Holding{buyer: {96_900_000, 4_000}, seller: {2_985_000, 1_000}, treasury: {115_007, 0}},
		Escrow: test(5_000_000), Paid: test(2_985_000), Fee: test(15_000), Decay: test(100_000), Refund: test(1_900_000),
		Fees: map[string]uint64{buyer: 6_000, seller: 4_000}, Gone: true,
		Created: protocol.NegotiationCreated{Buyer: buying, Seller: selling, EscrowAmount: 5_000_000},
		Offers: []protocol.OfferSubmitted{
			{Offerer: buying, Amount: 2_000_000, Round: 1, EffectiveEscrow: 4_950_000},
			{Offerer: selling, Amount: 3_000_000, Round: 2, EffectiveEscrow: 4_900_000},
		},
		Settled: &protocol.NegotiationSettled{SettledAmount: 3_000_000, ProtocolFee: 15_000, EscrowDecayTotal: 100_000},
	}
}

func test(units uint64) amount.Tokens {
	return amount.Tokens{Units: units, Decimals: 6, Symbol: "TEST"}
}

func TestTheVerdictNoticesASingleUnit(t *testing.T) {
	require.NoError(t, sound().check())
	for complaint, spoil := range map[string]func(*Account){
		"not settled":                          func(a *Account) { a.Settled = nil },
		"not closed":                           func(a *Account) { a.Gone = false },
		"escrow: not conserved":                func(a *Account) { a.Refund.Units-- },
		"treasury: fee and decay not received": func(a *Account) { a.After[treasury] = Holding{115_006, 0} },
		"price: differs":                       func(a *Account) { a.Settled.SettledAmount++ },
		"buyer: paid other":                    func(a *Account) { a.After[buyer] = Holding{96_900_000, 3_999} },
		"seller: paid other":                   func(a *Account) { a.After[seller] = Holding{2_985_000, 999} },
	} {
		a := sound()
		spoil(a)
		require.ErrorContains(t, a.check(), complaint)
	}
}

func TestABalanceHasTheSignOfItsChange(t *testing.T) {
	require.Contains(t, balanceLine("x", 5, 3, 0), "-2")
	require.Contains(t, balanceLine("x", 3, 5, 0), "+2")
	require.NotContains(t, balanceLine("x", 3, 3, 0), "+")
}

func TestThePictureShowsTheOffersAndTheAgreement(t *testing.T) {
	require.Equal(t, `
  3.000000 |          S  accepted
           |
           |
           |
           |
  2.000000 |    B
           +-----------------
     round      1     2
`, "\n"+sound().picture())
}
