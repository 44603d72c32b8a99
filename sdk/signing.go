package haggle

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Signing describes a transaction to its signers, beyond its message. The context of [Signer.SignMessage]
// carries it: see [Signing.Context] and [SigningFrom].
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

// Context returns a context for [Signer.SignMessage]. [Action.Do] passes one to its signers. For a transaction of
// [Negotiation.CommitZopa] that a policy signs, the caller of [SignTransaction] has to pass one.
func (s Signing) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, signingKey{}, s)
}

// SigningFrom returns the description of the transaction that a [Signer] is to sign. It is the zero value if
// the caller passed none.
func SigningFrom(ctx context.Context) Signing {
	signing, _ := ctx.Value(signingKey{}).(Signing)
	return signing
}

// outcomeObserver is the optional method of a [Signer], which documents it.
type outcomeObserver interface {
	ObserveOutcome(ctx context.Context, message [sha256.Size]byte)
}

// observers are the last signers of each account that observe outcomes.
type observers struct {
	lock      sync.Mutex
	byAccount map[solana.PublicKey]outcomeObserver
}

func (o *observers) add(signers []Signer) {
	o.lock.Lock()
	defer o.lock.Unlock()
	for _, signer := range signers {
		observer, ok := signer.(outcomeObserver)
		if !ok {
			continue
		}
		if o.byAccount == nil {
			o.byAccount = make(map[solana.PublicKey]outcomeObserver)
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
	var observing []outcomeObserver
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
