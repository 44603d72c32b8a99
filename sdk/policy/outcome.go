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

// SignedTransaction is a transaction with unknown outcome that the policy signed or may have signed.
type SignedTransaction struct {
	// Wallet is the policy's wallet. It is one of the transaction's signers.
	Wallet solana.PublicKey
	// Message is the SHA-256 of the transaction's message.
	Message Digest
	// Signature identifies the transaction. If the policy does not know it, it is zero: another account pays
	// the fee, or the signer failed but may have signed. Then only the wallet's transaction messages show
	// whether the message was executed.
	Signature solana.Signature
	// Blockhash is the blockhash of the transaction. With a durable nonce it is the value of the account
	// Nonce.
	Blockhash solana.Hash
	Nonce     solana.PublicKey
	// LastValidBlockHeight and Slot come from haggle.Signing. Unknown values are 0.
	LastValidBlockHeight, Slot uint64
	// SignedAt is the time of the signature.
	SignedAt time.Time
}

// Evidence determines the outcomes of transactions on chain. It alone can make a policy give back spends.
type Evidence interface {
	// Outcome returns a transaction's outcome. If it returns transaction.Unknown, the outcome stays open and
	// the policy requests it again.
	Outcome(ctx context.Context, tx SignedTransaction) transaction.Outcome
	// Slot returns a recent slot: a transaction that is signed afterwards is not executed before it. The
	// policy requests it if the caller of SignMessage gives none (haggle.Signing.Context).
	Slot(ctx context.Context) (uint64, error)
}

const (
	// expiryDelay is the minimum signature age for outcome lookups: a blockhash lives for 150 blocks, about a
	// minute, and a node that is behind may not know it yet.
	expiryDelay = 2 * time.Minute
	// searchDelay is the minimum message age for searching the wallet's transactions when the signature is
	// unknown. Nodes list transactions later than they know their statuses.
	searchDelay = 5 * time.Minute
	// observeLimit is how long a transaction's sender waits while the policy obtains the outcome. A client
	// that proved the outcome returns it at once.
	observeLimit = 5 * time.Second
	// reconcileLimit is how long SignMessage waits for outcomes before a limit denies it.
	reconcileLimit = 20 * time.Second
	// slotLimit is how long SignMessage waits for a slot. If no slot is known, only a node with all blocks
	// since the signature can show that the transaction expired.
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

// A signer's optional method, which the client finds by its signature.
var _ interface {
	haggle.Signer
	ObserveOutcome(ctx context.Context, message [sha256.Size]byte)
} = (*Policy)(nil)

// ObserveOutcome is called by the SDK when a transaction's outcome is final. It obtains the outcome from
// Config.Evidence, and gives back the unspent money: everything if the transaction expired, everything but
// the fees if it failed. It ignores messages that are not open, and unknown signatures: see Reconcile.
func (p *Policy) ObserveOutcome(ctx context.Context, message [sha256.Size]byte) {
	p.lock.Lock()
	known := p.usage.Messages[message]
	var tx SignedTransaction
	if known != nil {
		tx = p.signedTransaction(known)
	}
	p.lock.Unlock()
	if tx.Signature.IsZero() || p.config.Evidence == nil {
		return
	}
	limited, cancel := context.WithTimeout(ctx, observeLimit)
	defer cancel()
	p.settle(ctx, message, p.config.Evidence.Outcome(limited, tx))
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
// gives back the money that they did not spend, and returns how many outcomes became final. Transactions with
// an unknown signature are looked up after five minutes: another account pays for them, or the signer failed
// but may have signed. A policy does so itself before a limit denies a transaction. Without Config.Evidence
// it does nothing. After 48 hours an open transaction counts as executed.
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
		tx, delay := p.signedTransaction(known), expiryDelay
		if tx.Signature.IsZero() {
			delay = searchDelay
		}
		if p.config.Now().Sub(tx.SignedAt) >= delay {
			found[digest] = tx
		}
	}
	return found
}

// signedTransaction describes an open message. The signature identifies the transaction only if the wallet
// pays: another payer can sign the same message with a second signature, which is never executed.
func (p *Policy) signedTransaction(known *OpenMessage) SignedTransaction {
	tx := SignedTransaction{
		Wallet: p.wallet, Message: known.Message, Blockhash: known.Validity.Blockhash, Nonce: known.Validity.Nonce,
		LastValidBlockHeight: known.Validity.LastBlockHeight, Slot: known.Validity.Slot,
		SignedAt: time.Unix(known.Time, 0),
	}
	if known.Validity.Payer {
		tx.Signature = known.Signature
	}
	return tx
}
