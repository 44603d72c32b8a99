package proving

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

var (
	buyer, seller = solana.PublicKey{1}, solana.PublicKey{2}
	negotiation   = solana.PublicKey{3}
)

// offerOf returns the instruction of an offer. Its metadata begin with 5 and the round.
func offerOf(t *testing.T, offerer solana.PublicKey, round uint8, amount uint64) solana.Instruction {
	t.Helper()
	instruction, err := (&protocol.SubmitOffer{
		Offerer: offerer, Negotiation: negotiation, CreatedAt: 7, ExpectedRound: round, Amount: amount,
		Metadata: [64]byte{5, round},
	}).Instruction()
	require.NoError(t, err)
	return instruction
}

func TestMetadataOfAnyOffer(t *testing.T) {
	offer := offerOf(t, seller, 1, 6)
	for name, execute := range map[string]func(*scriptedNode) *scriptedTransaction{
		"an instruction of the transaction": func(n *scriptedNode) *scriptedTransaction {
			return n.execute(offer, false)
		},
		"an account of a lookup table": func(n *scriptedNode) *scriptedTransaction {
			table := map[solana.PublicKey]solana.PublicKeySlice{{9}: {negotiation}}
			return n.add(offer, table, false)
		},
		"sent by another program": func(n *scriptedNode) *scriptedTransaction {
			return n.sentBy(solana.PublicKey{8}, offer)
		},
	} {
		t.Run(name, func(t *testing.T) {
			node := &scriptedNode{t: t}
			client := node.client()
			executed := execute(node)
			metadata, err := metadataOf(t.Context(), client, executed.signature, negotiation, 1)
			require.NoError(t, err)
			require.Equal(t, proof.Metadata{5, 1}, metadata)
			_, err = metadataOf(t.Context(), client, executed.signature, negotiation, 2)
			require.ErrorIs(t, err, ErrNoHistory)
		})
	}
}
