package demo

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// sound is an account in which everything is as it has to be.
func sound() *account {
	buying, selling := solana.PublicKey{1}, solana.PublicKey{2}
	return &account{
		Before: map[string]holding{buyer: {100_000_000, 10_000}, seller: {0, 5_000}, treasury: {7, 0}},
		After:  map[string]holding{buyer: {96_900_000, 4_000}, seller: {2_985_000, 1_000}, treasury: {115_007, 0}},
		Escrow: tokens(5_000_000), Paid: tokens(2_985_000), Fee: tokens(15_000), Decay: tokens(100_000), Refund: tokens(1_900_000),
		Fees: map[string]uint64{buyer: 6_000, seller: 4_000}, Gone: true,
		created: protocol.NegotiationCreated{Buyer: buying, Seller: selling, EscrowAmount: 5_000_000},
		offers: []protocol.OfferSubmitted{
			{Offerer: buying, Amount: 2_000_000, Round: 1, EffectiveEscrow: 4_950_000},
			{Offerer: selling, Amount: 3_000_000, Round: 2, EffectiveEscrow: 4_900_000},
		},
		settled: &protocol.NegotiationSettled{SettledAmount: 3_000_000, ProtocolFee: 15_000, EscrowDecayTotal: 100_000},
	}
}

func TestTheVerdictNoticesASingleUnit(t *testing.T) {
	require.NoError(t, sound().check())
	for complaint, spoil := range map[string]func(*account){
		"not settled":                          func(a *account) { a.settled = nil },
		"not closed":                           func(a *account) { a.Gone = false },
		"escrow: not conserved":                func(a *account) { a.Refund.Units-- },
		"treasury: fee and decay not received": func(a *account) { a.After[treasury] = holding{115_006, 0} },
		"price: differs":                       func(a *account) { a.settled.SettledAmount++ },
		"buyer: paid other":                    func(a *account) { a.After[buyer] = holding{96_900_000, 3_999} },
		"seller: paid other":                   func(a *account) { a.After[seller] = holding{2_985_000, 999} },
	} {
		a := sound()
		spoil(a)
		require.ErrorContains(t, a.check(), complaint)
	}
}

func TestThePlotIsWellFormed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "offers.svg")
	drawing, err := openDrawing(path)
	require.NoError(t, err)
	require.NoError(t, drawing.draw(sound()))
	require.NoError(t, drawing.finish())
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	for decoder := xml.NewDecoder(file); ; {
		if _, err = decoder.Token(); err != nil {
			break
		}
	}
	require.True(t, errors.Is(err, io.EOF), "%v", err)
}

func TestABalanceHasTheSignOfItsChange(t *testing.T) {
	require.Contains(t, balanceLine("x", 5, 3, 0), "-2")
	require.Contains(t, balanceLine("x", 3, 5, 0), "+2")
	require.NotContains(t, balanceLine("x", 3, 3, 0), "+")
}
