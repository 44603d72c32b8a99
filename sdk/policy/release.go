package policy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
)

// Fate is what has become of a transaction that has been signed.
type Fate string

// The fates of transactions.
const (
	// FateConfirmed: it has been executed, and has taken effect.
	FateConfirmed Fate = "confirmed"
	// FateFailed: it has been executed and has failed. Nothing happened but that its fees were paid.
	FateFailed Fate = "failed"
	// FateExpired: it has not been executed, and never will be.
	FateExpired Fate = "expired"
	// FateNotSigned: nobody has ever signed it.
	FateNotSigned Fate = "not signed"
)

// Evidence says what has become of transactions, as the chain has it.
type Evidence interface {
	// Fate is FateConfirmed, FateFailed or FateExpired, once that is certain; otherwise an error. The transaction's blockhash is the
	// one that the policy has signed, and cannot be used after lastValidBlockHeight.
	Fate(ctx context.Context, transaction solana.Signature, blockhash solana.Hash, lastValidBlockHeight uint64) (Fate, error)
}

var (
	// ErrUnknownSignature: the policy has not given out that signature.
	ErrUnknownSignature = errors.New("haggle: policy: this signature is not on record")
	// ErrNotReleased: what a transaction spends is not given back, because it has taken effect or still may.
	ErrNotReleased = errors.New("haggle: policy: what the transaction spends stays counted")
)

// expiryDelay is how long after it was signed a transaction is not believed to have expired: a blockhash lives for 150 blocks, which
// take about a minute. A node that lies behind may not know a young blockhash yet, which looks the same.
const expiryDelay = 2 * time.Minute

// Release gives back what a transaction has not spent after all: everything if it has expired, everything but its fees if it has
// failed. The caller says which transaction and until which block height it is valid, as in haggle.UnknownOutcome; what has become
// of it is asked Config.Evidence, and its answer is put on record. Giving back again does nothing.
//
// It fails with ErrUnknownSignature; with ErrNotReleased for a transaction that has taken effect, that expired less than two minutes
// after it was signed, that has a durable nonce (which does not expire) or whose fee somebody else pays (so that the wallet's
// signature does not identify it); and with what Config.Evidence fails with.
func (p *Policy) Release(ctx context.Context, transaction solana.Signature, lastValidBlockHeight uint64) error {
	p.lock.Lock()
	digest, ok := p.usage.signatures[transaction]
	var known entry
	if ok {
		known = *p.usage.entries[digest]
	}
	p.lock.Unlock()
	switch {
	case !ok:
		return fmt.Errorf("%w: %s", ErrUnknownSignature, transaction)
	case known.released:
		return nil
	case !known.Payer:
		return fmt.Errorf("%w: somebody else pays for %s", ErrNotReleased, transaction)
	case p.config.Evidence == nil:
		return errors.New("haggle: policy: without Evidence nothing is given back")
	}
	fate, err := p.config.Evidence.Fate(ctx, transaction, known.Blockhash, lastValidBlockHeight)
	if err != nil {
		return err
	}
	if err := p.believe(&known, fate); err != nil {
		return fmt.Errorf("%w: %s", err, transaction)
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if !p.usage.counts(digest) || p.usage.signatures[transaction] != digest {
		return nil // another call was faster
	}
	if err := p.appendLocked(ctx, Record{Kind: RecordReleased, Message: digest, Signature: transaction, Fate: fate}); err != nil {
		return err
	}
	p.config.Logger.InfoContext(ctx, "given back", "wallet", p.wallet, "message", digest, "signature", transaction, "fate", string(fate))
	return nil
}

func (p *Policy) believe(known *entry, fate Fate) error {
	switch {
	case fate == FateFailed:
		return nil
	case fate != FateExpired:
		return fmt.Errorf("%w: it is %s", ErrNotReleased, fate)
	case known.Durable:
		return fmt.Errorf("%w: it has a durable nonce", ErrNotReleased)
	case p.config.Now().Sub(time.Unix(known.Time, 0)) < expiryDelay:
		return fmt.Errorf("%w: it was signed less than %s ago", ErrNotReleased, expiryDelay)
	}
	return nil
}
