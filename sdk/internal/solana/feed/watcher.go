package feed

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/events"
)

const (
	// hintPollLimit is how long a hinted transaction is polled at short intervals. Then it is polled every
	// RecheckEvery until HintExpiry, which is longer than the life of a blockhash.
	hintPollLimit = 3 * time.Second
	RecheckEvery  = time.Second
	HintExpiry    = 2 * time.Minute
	// firstRecheck and lastRecheck limit the short intervals.
	firstRecheck = 30 * time.Millisecond
	lastRecheck  = 500 * time.Millisecond
	// hintsKept limits the hinted transactions that are polled at once. Lists find the others.
	hintsKept = 4096
	// lateSlots is how many slots later than another a source may report the same transaction: some minutes.
	lateSlots = 512
	// handledKept is the number of handled transactions above which forget runs.
	handledKept = 1024
	// UnrelatedAtOnce limits the transactions that only mention a wallet and are fetched at once, although
	// the stream sent no hint of them. unrelatedEvery is the interval for fetching a further transaction.
	UnrelatedAtOnce = 1000
	unrelatedEvery  = 50 * time.Millisecond
	unrelatedPause  = time.Second
	// discoverEvery is the minimum interval for listing the wallet's accounts when logs were incomplete.
	discoverEvery = 10 * time.Second
)

// watcher runs a subscription. It uses no goroutine: when work is due, one of the stream's workers runs it.
type watcher struct {
	Watch
	feed         *Feed
	subscription *Subscription

	// Only one goroutine at a time uses the fields from here to lock: the one of begin, then one worker.

	// cursors holds the cursors of the watched addresses; requested holds the addresses of the last call of
	// listenTo.
	cursors   cursors
	requested []solana.PublicKey
	// backlog holds the transactions to deliver, and listed the lists that they are from.
	backlog backlog
	listed  map[solana.PublicKey]*listing
	// fetched holds transactions fetched already.
	fetched map[solana.Signature]*rpc.GetTransactionResult
	// fresh holds accounts that were found in the backlog and are not listed yet.
	fresh []solana.PublicKey
	// unrelated are transactions that mention the wallet and exceed the allowance.
	unrelated []*queued
	allowance allowance
	// incomplete reports whether some of the wallet's accounts may not be watched, because logs were
	// incomplete.
	incomplete bool
	discovered time.Time
	// postponed reports whether the node still must order the newest transactions.
	postponed bool
	// retry yields the pauses between failures in a row.
	retry *backoff.ExponentialBackOff

	lock sync.Mutex
	// due holds the addresses to list: with true from cursor.complete, otherwise from cursor.latest.
	due map[solana.PublicKey]bool
	// hints holds the hinted transactions that are not handled yet.
	hints map[solana.Signature]hint
	// scheduled reports whether a worker runs the watcher or will run it, and again whether more work arrived
	// since that worker began.
	scheduled, again bool
	// detached reports whether the subscription ended.
	detached bool
	timer    *time.Timer
	// waitingSince is the time when the oldest unhandled change became known, and waitingFrom the change's
	// slot; zero if none.
	waitingSince time.Time
	waitingFrom  uint64
}

// hint is the content of a hint about a transaction.
type hint struct {
	address solana.PublicKey
	wallet  bool
	since   time.Time
}

// hint receives a hint from the stream.
func (w *watcher) hint(n events.Hint, wallet bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if !n.Signature.IsZero() {
		if _, known := w.hints[n.Signature]; known {
			return
		}
		if len(w.hints) < hintsKept {
			if w.hints == nil {
				w.hints = make(map[solana.Signature]hint)
			}
			w.hints[n.Signature] = hint{address: n.Address, wallet: wallet, since: time.Now()}
		}
	}
	w.addDue(n.Address, n.Signature.IsZero())
	w.setWaiting(n.Slot)
	w.wake()
}

// refresh makes a worker list an address.
func (w *watcher) refresh(address solana.PublicKey) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.addDue(address, true)
	w.setWaiting(0)
	w.wake()
}

func (w *watcher) recordUnchanged(address solana.PublicKey, from, to uint64) bool {
	return w.cursors.recordUnchanged(address, from, to)
}

// setConnected does nothing: Lag reads the stream's state.
func (w *watcher) setConnected(bool) {}

func (w *watcher) fail(err error) { w.subscription.fail(err) }

func (w *watcher) addDue(address solana.PublicKey, all bool) {
	if w.due == nil {
		w.due = make(map[solana.PublicKey]bool)
	}
	w.due[address] = w.due[address] || all
}

func (w *watcher) setWaiting(slot uint64) {
	if w.waitingSince.IsZero() {
		w.waitingSince, w.waitingFrom = time.Now(), slot
	}
}

// resume makes a worker continue when the listener made room.
func (w *watcher) resume() {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.wake()
}

// wake schedules the watcher.
func (w *watcher) wake() {
	if w.scheduled {
		w.again = true
		return
	}
	w.scheduled = true
	w.feed.schedule(w)
}

// work does one step of the subscription.
func (w *watcher) work() {
	if !w.subscription.enter() {
		return
	}
	defer w.subscription.running.Done()
	w.lock.Lock()
	w.again = false
	w.lock.Unlock()

	pause, err := w.step(w.subscription.ctx)
	if err != nil {
		if isPermanent(err) {
			w.subscription.fail(err)
			return
		}
		pause = w.retry.NextBackOff()
	} else {
		w.retry.Reset()
	}

	w.lock.Lock()
	defer w.lock.Unlock()
	w.scheduled = false
	if w.again && err == nil {
		w.wake()
	} else if pause > 0 {
		w.wakeAfter(pause)
	}
}

// wakeAfter schedules the watcher after a pause.
func (w *watcher) wakeAfter(pause time.Duration) {
	if w.timer == nil {
		w.timer = time.AfterFunc(pause, w.resume)
	} else {
		w.timer.Reset(pause)
	}
	if w.detached {
		w.timer.Stop()
	}
}

func isPermanent(err error) bool {
	return isRefusal(err) || errors.Is(err, ErrTooLong)
}

// step handles all known transactions. It returns the time until more may arrive, or zero if a hint will
// report that. It stops early if the listener lacks room.
func (w *watcher) step(ctx context.Context) (time.Duration, error) {
	for {
		for len(w.backlog.items) > 0 {
			if err := w.listFresh(ctx); err != nil {
				return 0, err
			}
			if len(w.backlog.items) == 0 {
				break // transactions whose order is not known yet wait
			}
			if !w.subscription.hasRoom() {
				return 0, nil
			}
			if err := w.handleNext(ctx); err != nil {
				return 0, err
			}
		}
		pause, err := w.gather(ctx)
		if err != nil || len(w.backlog.items) == 0 {
			return pause, err
		}
	}
}

// allowance limits the rate of fetching transactions that only mention a wallet.
type allowance struct {
	used  int
	since time.Time
}

func (a *allowance) remaining() int {
	now := time.Now()
	if a.since.IsZero() {
		a.since = now
	}
	regained := int(now.Sub(a.since) / unrelatedEvery)
	if regained >= a.used {
		a.used, a.since = 0, now
	} else {
		a.used -= regained
		a.since = a.since.Add(time.Duration(regained) * unrelatedEvery)
	}
	return UnrelatedAtOnce - a.used
}
