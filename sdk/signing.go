package haggle

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Signing describes a transaction to the signers, beyond the message. The context of [Signer.SignMessage]
// carries it: see [Signing.Context] and [SigningFrom].
type Signing struct {
	// LastValidBlockHeight is the greatest block height that allows executing the transaction; zero if it is
	// not known or the transaction uses a durable nonce.
	LastValidBlockHeight uint64
	// Slot is a lower bound for the slot that can include the transaction; zero if it is not known.
	Slot uint64
	// SealedPrice is the price behind a submit_zopa_commitment; nil for other transactions.
	SealedPrice *protocol.SealedPrice
}

type signingKey struct{}

// Context returns a context for [Signer.SignMessage]. [Action.Do] passes such a context to all signers. When
// a policy signs a transaction of [Negotiation.CommitZopa], the caller of [SignTransaction] must pass it.
func (s Signing) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, signingKey{}, s)
}

// SigningFrom returns the description of the transaction to be signed by a [Signer]. It is the zero value if
// the caller passed none.
func SigningFrom(ctx context.Context) Signing {
	signing, _ := ctx.Value(signingKey{}).(Signing)
	return signing
}

// outcomeObserver is an optional [Signer] method, documented there.
type outcomeObserver interface {
	ObserveOutcome(ctx context.Context, message [sha256.Size]byte)
}

// observers holds the last signers of each account that observe outcomes.
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

// settlement is the result of a transaction whose outcome this client proved.
type settlement struct {
	receipt *Receipt
	err     error
}

// maxSettlements limits the number of proven outcomes that are kept for [Client.Outcome].
const maxSettlements = 256

// settled keeps a transaction's result if it proves that the transaction was executed or never will be, and
// notifies the signers' observers. [transaction.NotSent] is no such proof: the transaction can still be sent.
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
