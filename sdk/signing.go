package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"
)

// Signing describes a transaction to its signers, beyond its message: see [SigningFrom].
type Signing struct {
	// LastValidBlockHeight is the last block height at which the transaction can be executed; zero if it is not
	// known or the transaction has a durable nonce.
	LastValidBlockHeight uint64
	// Slot is a slot before which the transaction cannot have been executed; zero if it is not known.
	Slot uint64
	// SealedPrice is the price that a submit_zopa_commitment commits to; nil for other transactions.
	SealedPrice *SealedPrice
}

type signingKey struct{}

// WithSigning returns a context for [Signer.SignMessage]. [Action.Do] calls its signers with one. Before
// [SignTransaction] it is needed for a transaction of [Client.CommitZopa] if a policy signs.
func WithSigning(ctx context.Context, signing Signing) context.Context {
	return context.WithValue(ctx, signingKey{}, signing)
}

// SigningFrom returns the description of the transaction that a [Signer] is asked to sign. It is the zero
// value if the caller gave none.
func SigningFrom(ctx context.Context) Signing {
	signing, _ := ctx.Value(signingKey{}).(Signing)
	return signing
}

// OutcomeObserver is a [Signer] that receives the final outcomes of the transactions that it signed, for
// example to give back what an expired transaction did not spend.
type OutcomeObserver interface {
	// ObserveOutcome receives the message of a transaction and its outcome, after [Action.Do] knows it or has
	// recovered it from the journal. The outcome may be of a transaction that another signer signed.
	ObserveOutcome(ctx context.Context, message []byte, outcome Outcome)
}

// reportOutcome passes the outcome of a transaction to the signers that observe outcomes.
func reportOutcome(ctx context.Context, signers []Signer, transaction *solana.Transaction, outcome Outcome) {
	if !outcome.IsFinal() {
		return
	}
	message, err := transaction.Message.MarshalBinary()
	if err != nil {
		return
	}
	for _, signer := range signers {
		if observer, ok := signer.(OutcomeObserver); ok {
			observer.ObserveOutcome(context.WithoutCancel(ctx), message, outcome)
		}
	}
}

// reportRecovered passes the outcomes of recovered journal entries to the signers that observe outcomes.
func reportRecovered(ctx context.Context, signers []Signer, recovered []Recovered) {
	for _, entry := range recovered {
		if transaction, err := solana.TransactionFromBytes(entry.Entry.Transaction); err == nil {
			reportOutcome(ctx, signers, transaction, entry.Outcome)
		}
	}
}
