package policy

import (
	"context"
	"crypto/sha256"
	"sync/atomic"
	"time"

	"github.com/gagliardetto/solana-go"
	"golang.org/x/sync/errgroup"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// SignedTransaction is a transaction that a policy signed and whose outcome the policy does not know.
type SignedTransaction struct {
	Signature solana.Signature
	// Blockhash is the blockhash of the transaction. With a durable nonce it is the value of the account
	// Nonce.
	Blockhash solana.Hash
	Nonce     solana.PublicKey
	// LastValidBlockHeight and Slot are the values of haggle.Signing; zero if they are not known.
	LastValidBlockHeight, Slot uint64
	// SignedAt is the time of the signature.
	SignedAt time.Time
}

// Evidence determines the outcomes of transactions on chain.
type Evidence interface {
	// Outcome returns the outcome of a transaction. If it returns transaction.Unknown, the outcome stays
	// open and the policy requests it again.
	Outcome(ctx context.Context, tx SignedTransaction) transaction.Outcome
	// Slot returns a recent slot: a transaction that is signed afterwards is not executed before it. The
	// policy requests it if the caller of SignMessage gives none (haggle.WithSigning).
	Slot(ctx context.Context) (uint64, error)
}

const (
	// expiryDelay is the age of a signature from which the policy looks up its outcome: a blockhash lives for
	// 150 blocks, about a minute, and a node that is behind may not know it yet.
	expiryDelay = 2 * time.Minute
	// reconcileLimit is how long a signature waits for outcomes before a limit denies it.
	reconcileLimit = 20 * time.Second
	// slotLimit is how long a signature waits for a slot. Without one, only a node with all blocks since the
	// signature can show that the transaction expired.
	slotLimit = 2 * time.Second
	// reconcileWorkers is how many outcomes are looked up at once.
	reconcileWorkers = 8
)

// signing returns the data about a transaction from the caller of SignMessage, or else from a node.
func (p *Policy) signing(ctx context.Context) haggle.Signing {
	signing := haggle.SigningFrom(ctx)
	if signing.Slot != 0 || p.config.Evidence == nil {
		return signing
	}
	limited, cancel := context.WithTimeout(ctx, slotLimit)
	defer cancel()
	slot, err := p.config.Evidence.Slot(limited)
	if err != nil {
		p.config.Logger.WarnContext(ctx, "slot of a signature not known", "wallet", p.wallet, "reason", err)
		return signing
	}
	signing.Slot = slot
	return signing
}

var _ haggle.OutcomeObserver = (*Policy)(nil)

// ObserveOutcome receives the outcome of a transaction from the SDK, and gives back the money that the
// transaction did not spend: everything if it expired, everything but its fees if it failed. An outcome that
// is not final, or of a message that is not open, is ignored. So is transaction.NotSent: the signature
// exists, and the blockhash has to expire first.
func (p *Policy) ObserveOutcome(ctx context.Context, message []byte, outcome transaction.Outcome) {
	p.settle(ctx, sha256.Sum256(message), outcome)
}

// settle records an outcome, and reports whether it was final and new.
func (p *Policy) settle(ctx context.Context, digest Digest, outcome transaction.Outcome) bool {
	if outcome != transaction.Confirmed && outcome != transaction.Failed && outcome != transaction.Expired {
		return false
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	settled := false
	err := p.appendLocked(ctx, func() (*Record, error) {
		known := p.usage.Messages[digest]
		if settled = known != nil && known.attempts == 0; !settled {
			return nil, nil
		}
		return &Record{Kind: RecordSettled, Message: digest, Outcome: outcome}, nil
	})
	if err != nil {
		p.config.Logger.ErrorContext(ctx, "outcome not recorded", "wallet", p.wallet, "message", digest, "reason", err)
		return false
	}
	if !settled {
		return false
	}
	p.config.Logger.InfoContext(ctx, "settled", "wallet", p.wallet, "message", digest, "outcome", outcome.String())
	return true
}

// Reconcile looks up the outcomes of signed transactions that are older than two minutes and still open,
// gives back the money that they did not spend, and returns the number of new final outcomes. A policy does
// so itself before a limit denies a transaction. Without Config.Evidence it does nothing. Transactions whose
// fee another account pays are skipped: the wallet's signature does not identify them. After 48 hours an open
// transaction counts as executed.
func (p *Policy) Reconcile(ctx context.Context) (settled int) {
	if p.config.Evidence == nil {
		return 0
	}
	var count atomic.Int64
	var group errgroup.Group
	group.SetLimit(reconcileWorkers)
	for digest, tx := range p.unsettled() {
		group.Go(func() error {
			if p.settle(ctx, digest, p.config.Evidence.Outcome(ctx, tx)) {
				count.Add(1)
			}
			return nil
		})
	}
	_ = group.Wait() // no error is returned
	return int(count.Load())
}

func (p *Policy) unsettled() map[Digest]SignedTransaction {
	p.lock.Lock()
	defer p.lock.Unlock()
	found := map[Digest]SignedTransaction{}
	for digest, known := range p.usage.Messages {
		signedAt := time.Unix(known.Time, 0)
		if known.Signature.IsZero() || !known.Validity.Payer || p.config.Now().Sub(signedAt) < expiryDelay {
			continue
		}
		found[digest] = SignedTransaction{
			Signature: known.Signature, Blockhash: known.Validity.Blockhash, Nonce: known.Validity.Nonce,
			LastValidBlockHeight: known.Validity.LastBlockHeight, Slot: known.Validity.Slot, SignedAt: signedAt,
		}
	}
	return found
}
