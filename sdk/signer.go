package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
)

// Signer signs transactions for an account: a key in memory, or a wallet somewhere else.
//
// A signer with the method
//
//	ObserveOutcome(ctx context.Context, message [sha256.Size]byte)
//
// learns when an outcome of the account's transactions is final, for example to release the budget that an
// expired transaction did not spend. The method receives the SHA-256 of the transaction's message: at the end
// of [Action.Do] or [Client.Submit], or later, when the client resolved an unknown outcome. It does not
// receive the outcome, because every caller that holds the signer can call it: [Client.Outcome] of a trusted
// client returns the outcome, at once if this client just proved it. The client calls it for the transactions
// that the account must sign, once this signer signed an action, so another signer may have signed the
// transaction. If an account uses several signers, the client calls just the last.
type Signer interface {
	// PublicKey is the account's address.
	PublicKey() solana.PublicKey
	// SignMessage signs a transaction's message as it is, without hashing it first (Ed25519).
	SignMessage(ctx context.Context, message []byte) (solana.Signature, error)
}

// SignTransaction adds the signatures of some of a transaction's signers and keeps existing signatures, so
// several parties can sign sequentially: see [Negotiation.SettleByAgreement]. It fails with
// [transaction.ErrNotASigner] for a signer that the transaction does not need. [Client.Submit] sends the
// transaction once it is complete.
func SignTransaction(ctx context.Context, tx *solana.Transaction, signers ...Signer) error {
	return send.AddSignatures(ctx, tx, signers)
}
