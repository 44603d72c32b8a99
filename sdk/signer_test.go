package haggle

import (
	"context"
	"testing"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newKeypair(t *testing.T) *wallet.Keypair {
	t.Helper()
	keypair, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	return keypair
}

// forger signs with another account's key.
type forger struct{ *wallet.Keypair }

func (f forger) SignMessage(ctx context.Context, message []byte) (solana.Signature, error) {
	other, err := wallet.GenerateKeypair()
	if err != nil {
		return solana.Signature{}, err
	}
	return other.SignMessage(ctx, message)
}

func TestTransactionsAreSignedByAllWhoHaveTo(t *testing.T) {
	payer, sender := newKeypair(t), newKeypair(t)
	transfer := system.NewTransferInstruction(1, sender.PublicKey(), payer.PublicKey()).Build()
	tx, err := solana.NewTransaction([]solana.Instruction{transfer}, solana.Hash{1}, solana.TransactionPayer(payer.PublicKey()))
	require.NoError(t, err)

	require.ErrorIs(t, send.Sign(t.Context(), tx, []Signer{payer}), transaction.ErrMissingSigner)
	require.ErrorContains(t, send.Sign(t.Context(), tx, []Signer{payer, forger{sender}}), "does not verify")
	assert.Empty(t, tx.Signatures)

	require.NoError(t, send.Sign(t.Context(), tx, []Signer{newKeypair(t), sender, nil, payer}))
	require.NoError(t, tx.VerifySignatures())
}
