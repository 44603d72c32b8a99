package haggle

import (
	"context"
	"crypto/sha256"
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

// OutcomeObserver is a [Signer] that learns when the outcome of one of its account's transactions is final,
// for example to release the budget that an expired transaction did not spend.
type OutcomeObserver interface {
	// ObserveOutcome receives the SHA-256 of a transaction's message when its outcome is final: at the end of
	// [Action.Do] or [Client.Submit], or later, when the client has resolved an unknown outcome. It does not
	// receive the outcome, because every caller that holds the signer can call it: [Client.Outcome] of a client
	// that the observer trusts returns the outcome, at once if this client has just proven it.
	//
	// The client calls it for the transactions that the account has to sign, after this signer has signed an
	// action, so another signer may have signed the transaction. Of several signers of one account only the
	// last one is called.
	ObserveOutcome(ctx context.Context, message [sha256.Size]byte)
}

// observers are the last signers of each account that observe outcomes.
type observers struct {
	lock      sync.Mutex
	byAccount map[solana.PublicKey]OutcomeObserver
}

func (o *observers) add(signers []Signer) {
	o.lock.Lock()
	defer o.lock.Unlock()
	for _, signer := range signers {
		observer, ok := signer.(OutcomeObserver)
		if !ok {
			continue
		}
		if o.byAccount == nil {
			o.byAccount = make(map[solana.PublicKey]OutcomeObserver)
		}
		o.byAccount[signer.PublicKey()] = observer
	}
}

// settlement is the result of a transaction whose outcome this client has proven.
type settlement struct {
	receipt *Receipt
	err     error
}

// maxSettlements is the number of proven outcomes that a client keeps for [Client.Outcome].
const maxSettlements = 256

// settled keeps the result of a transaction if it proves that the transaction was executed or never will be,
// and notifies the observers of its signers. [transaction.NotSent] is no such proof: the
// transaction can still be sent.
func (c *Client) settled(ctx context.Context, tx *solana.Transaction, receipt *Receipt, err error) {
	outcome := transaction.OutcomeOf(err)
	if !outcome.IsFinal() || outcome == transaction.NotSent || len(tx.Signatures) == 0 {
		return
	}
	message, failed := tx.Message.MarshalBinary()
	if failed != nil {
		return
	}
	c.settlements.Put(tx.Signatures[0], settlement{receipt, err})
	var observing []OutcomeObserver
	c.observers.lock.Lock()
	signers := min(int(tx.Message.Header.NumRequiredSignatures), len(tx.Message.AccountKeys))
	for _, signer := range tx.Message.AccountKeys[:signers] {
		if observer := c.observers.byAccount[signer]; observer != nil {
			observing = append(observing, observer)
		}
	}
	c.observers.lock.Unlock()
	for _, observer := range observing {
		observer.ObserveOutcome(context.WithoutCancel(ctx), sha256.Sum256(message))
	}
}
