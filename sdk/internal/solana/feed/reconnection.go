package feed

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// newReconnection returns the pauses between attempts after failures in a row.
func newReconnection() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: firstReconnect, MaxInterval: lastReconnect, Multiplier: 2,
		RandomizationFactor: backoff.DefaultRandomizationFactor,
	}
}

// disconnected records that no stream is open. If the reason is an error, the waiting subscribers receive it;
// a permanent error ends all subscribers.
func (f *Feed) disconnected(err error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.downSince.IsZero() {
		f.downSince, f.downSlot = time.Now(), f.newest
		if err != nil {
			f.Logger.Warn("event source disconnected", "error", err)
		}
	}
	clear(f.abandoned)
	for _, at := range f.topics {
		at.subscribed = false
		if err == nil {
			continue
		}
		for _, s := range at.subscribers {
			s.setConnected(false)
		}
		for _, waiting := range at.waiting {
			waiting <- err
		}
		at.waiting = nil
		if isPermanent(err) {
			for _, s := range at.subscribers {
				s.fail(err)
			}
		}
	}
}

// reconnected starts a reconciliation, which finds the transactions missed while no stream was open.
func (f *Feed) reconnected() {
	f.lock.Lock()
	defer f.lock.Unlock()
	if !f.downSince.IsZero() {
		f.Logger.Info("event source reconnected", "after", time.Since(f.downSince), "addresses", len(f.topics))
		f.downSince = time.Time{}
		signal(f.reconcileNow)
	}
}
