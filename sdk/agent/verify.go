package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/internal/preflight"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// UnverifiedError reports a settlement, or an agreed price in escrow, that the agent cannot verify. The
// seller must not deliver yet.
type UnverifiedError struct {
	// Result is the unverified result. For a price in escrow Result.Status is Accepted.
	Result Result
	// Err is the error of [haggle.Client.VerifySettlement].
	Err error
}

func (e *UnverifiedError) Error() string {
	subject := "settlement"
	if e.Result.Status == protocol.NegotiationStatusAccepted {
		subject = "escrow"
	}
	return fmt.Sprintf("agent: %s of %s not verified, do not deliver: %v", subject, e.Result.Negotiation, e.Err)
}

// Unwrap returns the cause.
func (e *UnverifiedError) Unwrap() error { return e.Err }

const (
	// verifyRefresh is the time between snapshots during a verification.
	verifyRefresh = 5 * time.Second
	// lastVerifyPause limits the doubling pause between verifications.
	lastVerifyPause = 5 * time.Minute
)

// checkSources reports limits whose settlements and escrows no client with these nodes can verify.
func (c Config) checkSources(nodes []transaction.NodeHealth) error {
	for _, other := range nodes {
		if other.Host != nodes[0].Host {
			return nil
		}
	}
	for mint, limits := range c.Mints {
		if limits.MinPrice > limits.SingleSourceUpTo {
			names := preflight.Names(c.Names).WithDefaults()
			return amount.Errorf(mint, "agent: settlements of %v and more cannot be verified: %w with %s, or set %s "+
				"to the price up to which one node's word suffices (mint %s)", amount.Units(limits.MinPrice),
				transaction.ErrSingleSource, names.Endpoint, names.SingleSourceUpTo, mint)
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

// isRefuted reports whether the verification of the negotiation's result failed.
func (l *loop) isRefuted(f *tracked) bool {
	payment, paid := l.settlementOf(f)
	return paid && payment == f.unverified
}

// dealID identifies a deal. Later deals can use the same address.
type dealID struct {
	negotiation solana.PublicKey
	created     int64
}

// verification is a verification in progress.
type verification struct {
	settlement haggle.Settlement
	cancel     context.CancelFunc
}

// verifyPayment verifies a seller's payment, and then reports the negotiation's result. Meanwhile the
// negotiation stays tracked: the settlement may be a single node's lie, and the agent's turn.
func (l *loop) verifyPayment(f *tracked, payment haggle.Settlement) {
	result := *f.result
	l.verify(f, payment, time.Until(f.verifyAt), func(err error) { l.verified(f, payment, result, err) })
}

// verify verifies a settlement and calls then with the outcome, unless the settlement is being verified, or
// failed recently. It replaces the verification of another settlement of the deal.
func (l *loop) verify(f *tracked, settlement haggle.Settlement, pause time.Duration, then func(error)) {
	deal := dealID{settlement.Negotiation, settlement.CreatedAt}
	running := l.verifying[deal]
	if settlement != f.unverified {
		pause = 0
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
	message := "verifying the settlement"
	if settlement.Agreed {
		message = "verifying the escrow"
	}
	l.config.Logger.Info(message, f.attributes("price", l.tokens(settlement.Mint, settlement.Price))...)
	l.tasks.Go(func() {
		defer cancel()
		err := l.verifySettlement(ctx, settlement)
		l.post(func() {
			if l.verifying[deal] == started {
				delete(l.verifying, deal)
				then(err)
			}
		})
	})
}

// refuted reports a failed verification, and returns the pause until it is repeated.
func (l *loop) refuted(f *tracked, settlement haggle.Settlement, unverified *UnverifiedError) time.Duration {
	l.report(f.address, unverified)
	if settlement != f.unverified {
		f.refutations = 0
	}
	pause := jitter(min(firstPause<<min(f.refutations, 20), lastVerifyPause))
	f.refutations++
	f.unverified, f.verifyAt = settlement, time.Now().Add(pause)
	return pause
}

// verified processes the outcome of a payment verification.
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
		return // another result ended RunOne
	}
	unverified := &UnverifiedError{Result: result, Err: err}
	l.config.Logger.Error("settlement not verified: do not deliver", f.attributes("error", err)...)
	if l.stopping {
		return
	}
	pause := l.refuted(f, settlement, unverified)
	switch {
	case l.single.is(f.address) && (time.Now().After(l.single.until) || errors.Is(err, transaction.ErrSingleSource)):
		f.result = &result // an event contains fewer fields
		l.ended(f, unverified)
	case isTracked:
		l.refreshAfter(f, pause)
	default:
		time.AfterFunc(pause, func() { l.post(func() { l.verifyPayment(f, settlement) }) })
	}
}
