package protocol_test

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Out-of-range account indexes in untrusted messages cause an error, not a panic.
func TestInstructionInRefusesAccountIndexesOutOfRange(t *testing.T) {
	offer := protocol.SubmitOffer{Amount: 5, Negotiation: solana.PublicKey{2}, Offerer: solana.PublicKey{1}}
	instruction, err := offer.Instruction()
	require.NoError(t, err)
	tx, err := solana.NewTransaction([]solana.Instruction{instruction}, solana.Hash{},
		solana.TransactionPayer(solana.PublicKey{1}))
	require.NoError(t, err)
	message := &tx.Message
	decoded, err := protocol.InstructionIn(message, &message.Instructions[0])
	require.NoError(t, err)
	require.EqualValues(t, 5, decoded.(*protocol.SubmitOffer).Amount)

	for _, malformed := range []func(*solana.CompiledInstruction){
		func(c *solana.CompiledInstruction) { c.Accounts[0] = 200 },
		func(c *solana.CompiledInstruction) { c.ProgramIDIndex = 200 },
	} {
		compiled := message.Instructions[0]
		compiled.Accounts = append([]uint16{}, compiled.Accounts...)
		malformed(&compiled)
		_, err := protocol.InstructionIn(message, &compiled)
		require.ErrorContains(t, err, "account index 200 out of range")
	}

	other := message.Instructions[0]
	other.ProgramIDIndex = 0
	decoded, err = protocol.InstructionIn(message, &other)
	require.NoError(t, err)
	require.Nil(t, decoded)
}
