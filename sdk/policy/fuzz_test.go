package policy_test

import (
	"context"
	"testing"

	bin "github.com/gagliardetto/binary"
	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// FuzzSignMessage: no bytes make a policy panic. Every signed message decodes, and encodes to the same bytes;
// this wallet is among its signers, and the message does not spend more than the limits.
func FuzzSignMessage(f *testing.F) {
	private := make(solana.PrivateKey, 64)
	seed, err := wallet.GenerateKeypair()
	require.NoError(f, err)
	copy(private, seed.PrivateKey())
	t := new(testing.T)
	s := newStage(t, everythingAllowed)
	me, err := wallet.NewKeypair(private)
	require.NoError(f, err)
	s.me, s.signer = me, &countingSigner{Signer: me}
	s.restart()
	address := s.negotiation(s.wallet(), friend, 1)
	own := s.associated(s.wallet(), solana.WrappedSol)
	for _, instructions := range [][]solana.Instruction{
		{s.create(friend, 1, 1_000)},
		{unitLimit(20_000), unitPrice(5), s.offer(address, 0, 1_000)},
		{s.accept(address, s.wallet(), friend, 1, 1_000)},
		{s.createAssociated(s.wallet(), s.wallet(), solana.WrappedSol), transferLamports(s.wallet(), own, 10), syncNative(own), closeAccount(own, s.wallet(), s.wallet())},
		{transferTokens(own, mint, friend, s.wallet(), 5)},
		{transferLamports(s.wallet(), thief, 5)},
	} {
		f.Add(s.message(instructions...))
		f.Add(append(append([]byte{0x80}, s.message(instructions...)...), 0))
	}
	table := tables{thief: {friend, mint}}
	f.Add(s.versioned(thief, table[thief], s.create(friend, 1, 1_000)))
	f.Fuzz(func(t *testing.T, message []byte) {
		s := newStage(t, everythingAllowed, func(c *policy.Config) { c.Tables = table })
		s.me, s.signer = me, &countingSigner{Signer: me}
		s.restart()
		signature, err := s.policy.SignMessage(context.Background(), message)
		if err != nil {
			require.ErrorIs(t, err, policy.ErrDenied)
			require.Zero(t, signature)
			require.Zero(t, s.signer.asked.Load())
			return
		}
		require.True(t, signature.Verify(s.wallet(), message))
		var parsed solana.Message
		require.NoError(t, parsed.UnmarshalWithDecoder(bin.NewBinDecoder(message)))
		again, err := parsed.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, message, again)
		require.Contains(t, parsed.AccountKeys[:parsed.Header.NumRequiredSignatures], s.wallet())
		for _, instruction := range parsed.Instructions {
			require.Contains(t, allPrograms, parsed.AccountKeys[instruction.ProgramIDIndex])
		}
		require.LessOrEqual(t, s.policy.Used(mint), uint64(mostPerTransaction))
		require.LessOrEqual(t, s.policy.Used(solana.PublicKey{}), oneSOL/10)
	})
}

var allPrograms = []solana.PublicKey{
	protocol.ProgramID, solana.SystemProgramID, solana.TokenProgramID, solana.Token2022ProgramID,
	solana.SPLAssociatedTokenAccountProgramID, solana.ComputeBudget,
}

func everythingAllowed(c *policy.Config) {
	c.Instructions = policy.KnownInstructions()
	wrappedSOL(c)
}
