package demo

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/demo"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestThePlotIsWellFormed(t *testing.T) {
	buying, selling := solana.PublicKey{1}, solana.PublicKey{2}
	path := filepath.Join(t.TempDir(), "offers.svg")
	drawing, err := openDrawing(path)
	require.NoError(t, err)
	require.NoError(t, drawing.draw(&demo.Account{
		Created: protocol.NegotiationCreated{Buyer: buying, Seller: selling, EscrowAmount: 5_000_000},
		Offers: []protocol.OfferSubmitted{
			{Offerer: buying, Amount: 2_000_000, Round: 1, EffectiveEscrow: 4_950_000},
			{Offerer: selling, Amount: 3_000_000, Round: 2, EffectiveEscrow: 4_900_000},
		},
		Settled: &protocol.NegotiationSettled{SettledAmount: 3_000_000, ProtocolFee: 15_000, EscrowDecayTotal: 100_000},
	}))
	require.NoError(t, drawing.finish())
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	for decoder := xml.NewDecoder(file); ; {
		if _, err = decoder.Token(); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, io.EOF)
}
