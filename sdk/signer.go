package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
)

// Signer signs transactions for one account: a key in memory, or a wallet somewhere else.
type Signer interface {
	// PublicKey is the account's address.
	PublicKey() solana.PublicKey
	// SignMessage signs the message of a transaction as it is, without hashing it first (Ed25519).
	SignMessage(ctx context.Context, message []byte) (solana.Signature, error)
}

// SignTransaction adds the signatures of some of a transaction's signers and keeps those that it has, so that
// several parties can sign one after the other: see [Negotiation.SettleByAgreement]. It fails with
// [transaction.ErrNotASigner] for a signer that the transaction does not need. [Client.Submit] sends the
// transaction once it is complete.
func SignTransaction(ctx context.Context, tx *solana.Transaction, signers ...Signer) error {
	return send.AddSignatures(ctx, tx, signers)
}
