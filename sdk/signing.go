package haggle

import (
	"context"
	"slices"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Signing describes a transaction to its signers, beyond its message: see [SigningFrom].
type Signing struct {
	// LastValidBlockHeight is the last block height at which the transaction can be executed; zero if it is
	// not known or the transaction has a durable nonce.
	LastValidBlockHeight uint64
	// Slot is a slot before which the transaction cannot have been executed; zero if it is not known.
	Slot uint64
	// SealedPrice is the price that a submit_zopa_commitment commits to; nil for other transactions.
	SealedPrice *protocol.SealedPrice
}

type signingKey struct{}

// WithSigning returns a context for [Signer.SignMessage]. [Action.Do] passes one to its signers. For a
// transaction of [Negotiation.CommitZopa] that a policy signs, the caller of [SignTransaction] has to pass
// one.
func WithSigning(ctx context.Context, signing Signing) context.Context {
	return context.WithValue(ctx, signingKey{}, signing)
}

// SigningFrom returns the description of the transaction that a [Signer] is to sign. It is the zero value if
// the caller passed none.
func SigningFrom(ctx context.Context) Signing {
	signing, _ := ctx.Value(signingKey{}).(Signing)
	return signing
}

// OutcomeObserver is a [Signer] that receives the final outcomes of the transactions that it signed, for
// example to release the budget that an expired transaction did not spend. It must be comparable, as a
// pointer is.
type OutcomeObserver interface {
	// ObserveOutcome receives the message of a transaction and its outcome: when [Action.Do] or
	// [Client.Submit] ends, or later, when the client has resolved an unknown outcome. The client calls it
	// for every transaction of a wallet for which this signer has signed an action, so the transaction may be
	// one that another signer signed.
	ObserveOutcome(ctx context.Context, message []byte, outcome transaction.Outcome)
}

// observers are the signers of each wallet's actions that observe outcomes.
type observers struct {
	lock     sync.Mutex
	byWallet map[solana.PublicKey][]OutcomeObserver
}

func (o *observers) add(wallet solana.PublicKey, signers []Signer) {
	o.lock.Lock()
	defer o.lock.Unlock()
	for _, signer := range signers {
		observer, ok := signer.(OutcomeObserver)
		if !ok || slices.Contains(o.byWallet[wallet], observer) {
			continue
		}
		if o.byWallet == nil {
			o.byWallet = make(map[solana.PublicKey][]OutcomeObserver)
		}
		o.byWallet[wallet] = append(o.byWallet[wallet], observer)
	}
}

// report passes the outcome of a transaction to the observers of its payer.
func (o *observers) report(ctx context.Context, tx *solana.Transaction, outcome transaction.Outcome) {
	if !outcome.IsFinal() {
		return
	}
	message, err := tx.Message.MarshalBinary()
	if err != nil {
		return
	}
	o.lock.Lock()
	observing := slices.Clone(o.byWallet[tx.Message.AccountKeys[0]])
	o.lock.Unlock()
	for _, observer := range observing {
		observer.ObserveOutcome(context.WithoutCancel(ctx), message, outcome)
	}
}
