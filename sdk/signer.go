package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
)

// Signer signs transactions for one account: a key in memory, or a wallet somewhere else.
//
// A signer with the method
//
//	ObserveOutcome(ctx context.Context, message [sha256.Size]byte)
//
// learns when the outcome of one of its account's transactions is final, for example to release the budget that
// an expired transaction did not spend. The method receives the SHA-256 of the transaction's message: at the end
// of [Action.Do] or [Client.Submit], or later, when the client has resolved an unknown outcome. It does not
// receive the outcome, because every caller that holds the signer can call it: [Client.Outcome] of a client that
// the signer trusts returns the outcome, at once if this client has just proven it. The client calls it for the
// transactions that the account has to sign, after this signer has signed an action, so another signer may have
// signed the transaction. Of several signers of one account only the last one is called.
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
