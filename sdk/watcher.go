package haggle

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

const (
	// hintLimit is how long a transaction that the stream tells of is looked for eagerly, and doubtLimit how long it is looked for at
	// all, then every recheckEvery: longer than a blockhash lives.
	hintLimit    = 3 * time.Second
	recheckEvery = time.Second
	doubtLimit   = 2 * time.Minute
	// hintsKept is how many of them are looked for at once. Of those beyond, the list of transactions tells.
	hintsKept = 4096
	// lateSlots is how much later than another a source may tell of the same transaction: some minutes.
	lateSlots = 512
	// handledKept is how many handled transactions are remembered before it is worth looking which can be forgotten.
	handledKept = 1024
	// strangersAtOnce is how many transactions that the stream has not told of are fetched at once because they mention an agent, and
	// strangersEvery how often another is beyond that.
	unrelatedAtOnce = 1000
	unrelatedEvery  = 50 * time.Millisecond
	unrelatedPause  = time.Second
	// discoverEvery is how often at most the agent's negotiations are listed because logs may not have told of them.
	discoverEvery = 10 * time.Second
)

// watcher keeps a subscription going. It has no goroutine: when there is something to do, one of the stream's workers does it.
type watcher struct {
	client       *Client
	stream       *stream
	subscription *Subscription
	start        watchStart
	// Either fixed is the negotiation to watch, or agent is the one whose negotiations are watched.
	fixed solana.PublicKey
	agent solana.PublicKey

	// From here on to lock, only one goroutine at a time has it: that of begin, and then one worker.

	// cursors are those of the watched addresses; asked are the addresses that the stream was last asked for.
	cursors cursors
	asked   []solana.PublicKey
	// backlog is what is to be delivered, and listed are the lists that it is from.
	backlog backlog
	listed  map[solana.PublicKey]*listing
	// fetched are those that have been looked at already.
	fetched map[solana.Signature]*rpc.GetTransactionResult
	// fresh are negotiations that have been found in the backlog and not been listed.
	fresh []solana.PublicKey
	// strangers are more of them that mention the agent than may be fetched at once.
	unrelated []*queued
	allowance allowance
	// incomplete says that some of the agent's negotiations may not be watched, because logs did not tell of them.
	incomplete bool
	discovered time.Time
	// postponed says that the node has not ordered the newest transactions yet.
	postponed bool
	// retry has the pauses after failures in a row.
	retry *backoff.ExponentialBackOff

	lock sync.Mutex
	// due are the addresses to list: with true from their marks, otherwise what is new is enough.
	due map[solana.PublicKey]bool
	// hints are transactions that the stream has told of and that have not been handled.
	hints map[solana.Signature]hint
	// scheduled says that a worker has it or will have it, and again that there is more to do than that worker may know.
	scheduled, again bool
	// left says that the subscription is over.
	left  bool
	timer *time.Timer
	// waitingSince is when the oldest thing that has not been handled became known, and waitingFrom its slot; zero if there is none.
	waitingSince time.Time
	waitingFrom  uint64
}

// hint is what is known of a transaction that the stream has told of.
type hint struct {
	address solana.PublicKey
	wallet  bool
	since   time.Time
}

// hint takes a hint from the stream.
func (w *watcher) hint(n Hint, wallet bool) {
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
	w.waits(n.Slot)
	w.wake()
}

// look has an address listed.
func (w *watcher) refresh(address solana.PublicKey) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.addDue(address, true)
	w.waits(0)
	w.wake()
}

// hasListed reports whether everything at an address that the node had listed in a slot has been handled.
func (w *watcher) hasListed(address solana.PublicKey, slot uint64) bool {
	return w.cursors.hasListed(address, slot)
}

// setConnected does nothing: Lag reads the state of the stream.
func (w *watcher) setConnected(bool) {}

func (w *watcher) fail(err error) { w.subscription.fail(err) }

func (w *watcher) addDue(address solana.PublicKey, all bool) {
	if w.due == nil {
		w.due = make(map[solana.PublicKey]bool)
	}
	w.due[address] = w.due[address] || all
}

func (w *watcher) waits(slot uint64) {
	if w.waitingSince.IsZero() {
		w.waitingSince, w.waitingFrom = time.Now(), slot
	}
}

// resume is told when the listener has made room.
func (w *watcher) resume() {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.wake()
}

// poke has a worker come.
func (w *watcher) wake() {
	if w.scheduled {
		w.again = true
		return
	}
	w.scheduled = true
	w.stream.schedule(w)
}

// work does what there is to do.
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
		w.later(pause)
	}
}

// later has a worker come after a pause.
func (w *watcher) later(pause time.Duration) {
	if w.timer == nil {
		w.timer = time.AfterFunc(pause, w.resume)
	} else {
		w.timer.Reset(pause)
	}
	if w.left {
		w.timer.Stop()
	}
}

func isPermanent(err error) bool {
	return isRefusal(err) || errors.Is(err, ErrHistoryTooLong)
}

// step handles everything that is known. It returns how long to wait until there may be more, zero if that will be told, and stops
// early when the listener has no room.
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

// allowance is how many transactions may still be fetched that only mention an agent.
type allowance struct {
	used  int
	since time.Time
}

func (a *allowance) left() int {
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
	return unrelatedAtOnce - a.used
}
