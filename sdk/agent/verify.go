package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/node"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// UnverifiedError reports a settlement that the agent cannot verify. The seller must not deliver yet.
type UnverifiedError struct {
	// Result is the unverified result.
	Result Result
	// Err is the error of [haggle.Client.VerifySettlement].
	Err error
}

func (e *UnverifiedError) Error() string {
	return fmt.Sprintf("agent: settlement of %s not verified, do not deliver: %v", e.Result.Negotiation, e.Err)
}

// Unwrap returns the cause.
func (e *UnverifiedError) Unwrap() error { return e.Err }

const (
	// verifyRefresh is the time between two snapshots of a negotiation whose settlement is being verified.
	verifyRefresh = 5 * time.Second
	// lastVerifyPause limits the doubling pause between two verifications.
	lastVerifyPause = 5 * time.Minute
)

// checkSources reports limits whose settlements no client with these nodes can verify.
func (c Config) checkSources(nodes []node.Health) error {
	for _, other := range nodes {
		if other.Host != nodes[0].Host {
			return nil
		}
	}
	for mint, limits := range c.Mints {
		if limits.MinPrice > limits.SingleSourceUpTo {
			names := c.Names.WithDefaults()
			return amount.Errorf(mint, "agent: settlements of %v and more cannot be verified: %w with %s, or set %s "+
				"to the price up to which one node's word suffices (mint %s)", amount.Units(limits.MinPrice),
				node.ErrSingleSource, names.Endpoint, names.SingleSourceUpTo, mint)
		}
	}
	return nil
}

// settlementOf returns the payment to verify; false if the agent is not paid.
func (l *loop) settlementOf(f *tracked) (haggle.Settlement, bool) {
	result := f.result
	if result == nil || result.Price == 0 || result.Side != protocol.OfferSideSeller ||
		result.Status != protocol.NegotiationStatusSettled {
		return haggle.Settlement{}, false
	}
	limits := l.config.Mints[result.Mint]
	return haggle.Settlement{
		Negotiation: result.Negotiation, CreatedAt: result.CreatedAt, Seller: l.self, Mint: result.Mint,
		Price: result.Price, FinalizedAbove: limits.FinalizedAbove, SingleSourceUpTo: limits.SingleSourceUpTo,
	}, true
}

// dealID identifies a deal. Later deals can have the same address.
type dealID struct {
	negotiation solana.PublicKey
	created     int64
}

// verification is a verification in progress.
type verification struct {
	settlement haggle.Settlement
	cancel     context.CancelFunc
}

// verify verifies a seller's payment, and then reports the negotiation's result. Meanwhile the negotiation stays
// tracked: the settlement may be one node's lie, and the agent's turn.
func (l *loop) verify(f *tracked, settlement haggle.Settlement) {
	deal := dealID{settlement.Negotiation, settlement.CreatedAt}
	running, pause := l.verifying[deal], time.Duration(0)
	if settlement == f.unverified {
		pause = time.Until(f.verifyAt)
	}
	if l.tracked[f.address] == f {
		l.refreshAfter(f, max(pause, verifyRefresh))
	}
	switch {
	case l.stopping || pause > 0 || running != nil && running.settlement == settlement:
		return
	case running != nil:
		running.cancel()
	}
	ctx, cancel := context.WithCancel(l.ctx)
	started := &verification{settlement, cancel}
	l.verifying[deal] = started
	result := *f.result
	l.config.Logger.Info("verifying the settlement", f.attributes("price", settlement.Price)...)
	l.tasks.Go(func() {
		defer cancel()
		err := l.client.VerifySettlement(ctx, settlement)
		l.post(func() {
			if l.verifying[deal] == started {
				delete(l.verifying, deal)
				l.verified(f, settlement, result, err)
			}
		})
	})
}

// verified processes the outcome of a verification.
func (l *loop) verified(f *tracked, settlement haggle.Settlement, result Result, err error) {
	isTracked := l.tracked[f.address] == f
	if err == nil {
		f.result = &result
		if isTracked {
			l.forget(f)
		}
		l.ended(f, nil)
		return
	}
	if errors.Is(err, errOver) {
		return // another result has ended RunOne
	}
	unverified := &UnverifiedError{Result: result, Err: err}
	l.config.Logger.Error("settlement not verified: do not deliver", f.attributes("error", err)...)
	if l.stopping {
		return
	}
	l.report(f.address, unverified)
	pause := jitter(min(firstPause<<min(f.failures, 20), lastVerifyPause))
	f.failures++
	f.unverified, f.verifyAt = settlement, time.Now().Add(pause)
	switch {
	case l.single.is(f.address) && (time.Now().After(l.single.until) || errors.Is(err, node.ErrSingleSource)):
		l.ended(f, unverified)
	case isTracked:
		l.refreshAfter(f, pause)
	default:
		time.AfterFunc(pause, func() { l.post(func() { l.verify(f, settlement) }) })
	}
}
