package haggle

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gagliardetto/solana-go"
)

const (
	// A stream that fails is opened again after a pause that doubles, and varies so that not everyone comes back at once.
	firstReconnect = 100 * time.Millisecond
	lastReconnect  = 15 * time.Second
	// subscribedAtOnce is how many addresses the source is given at a time, so that the first need not wait for the last.
	subscribedAtOnce = 1000
	// mostWorkers is how many subscriptions are worked for at once.
	mostWorkers = 16
	// unrelatedKept is how many transactions that do not concern anyone are remembered, so that they are not fetched.
	unrelatedKept = 1 << 16
	// reachedFor is for how long it is good enough to know where the node was.
	reachedFor = time.Second
	// replayed is how many slots before the last one a new stream begins: some minutes may be too many for a source, and the newest
	// slots may be incomplete.
	replayed = 32
	// takenBack is how many slots further back than ever no node is that the client believes, unless it has found out that a node has
	// shown a slot that there has never been.
	rollbackLimit = 150
)

// stream is what a client's subscriptions share: it keeps an EventStream of the source open, reconnects, and passes the hints on
// to the subscribers. Its workers run the watchers; its reconciler finds what the source has missed. It runs while there are
// subscribers.
type stream struct {
	client *Client
	// source is the client's, or the default.
	source EventSource

	lock sync.Mutex
	// topics are the addresses that have subscribers.
	topics map[solana.PublicKey]*topic
	// abandoned are addresses that nobody watches any more and that the stream still tells of.
	abandoned map[solana.PublicKey]struct{}
	running   bool
	// wake has an element when there are addresses to subscribe to or to unsubscribe from; reconcileNow when the reconciler is to run now.
	wake, reconcileNow chan struct{}
	// downSince is when the stream was lost, and lostAt the newest slot then; zero while there is one.
	downSince time.Time
	lostAt    uint64
	// newest is the newest slot that anyone has told of. It is for show: a source may say what it likes.
	newest uint64
	// head is a slot that the node had reached at headAt.
	head   uint64
	headAt time.Time
	// reconciledAt is the end of the last reconciliation, and reconciledTo the slot at which it began.
	reconciledAt time.Time
	reconciledTo uint64
	// unrelated are transactions that have nothing to do with this program, with their slots; unrelatedOrder says which is the oldest.
	unrelated      map[solana.Signature]uint64
	unrelatedOrder []solana.Signature
	unrelatedNext  int

	// readyLock is the lock for what follows, and may be taken while others are held.
	readyLock sync.Mutex
	// ready are the subscriptions that there is something to do for.
	ready   []*watcher
	workers int
}

// topic is an address that has subscribers.
type topic struct {
	subscribers []subscriber
	// subscribed says that the stream tells of it; waiting are those who want to know.
	subscribed bool
	waiting    []chan<- error
	// later are subscriptions that are to look at it once more then.
	later []*watcher
	// wallet says that it is an agent's, which is no account of the program's.
	wallet bool
	// fingerprint is that of the account's content, and changedAt the slot in which it was first seen.
	fingerprint uint64
	changedAt   uint64
}

// join returns the client's stream.
func (c *Client) join() *stream {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.stream == nil {
		c.stream = &stream{
			client:       c,
			topics:       make(map[solana.PublicKey]*topic),
			abandoned:    make(map[solana.PublicKey]struct{}),
			unrelated:    make(map[solana.Signature]uint64),
			wake:         make(chan struct{}, 1),
			reconcileNow: make(chan struct{}, 1),
		}
	}
	return c.stream
}

// subscriber receives what the stream knows of its addresses. Its methods return at once.
type subscriber interface {
	// hint reports a transaction; wallet reports whether the address is an agent's.
	hint(h Hint, wallet bool)
	// refresh asks to list an address, because something may have happened there.
	refresh(address solana.PublicKey)
	// hasListed reports whether everything at an address that the node had listed in a slot has been handled.
	hasListed(address solana.PublicKey, slot uint64) bool
	// setConnected reports whether hints arrive.
	setConnected(connected bool)
	// fail reports that no hint will arrive any more.
	fail(err error)
}

// attach has addresses watched for a subscription. What is returned tells of each when the stream tells of it, or why not.
func (f *stream) attach(w *watcher, wallet bool, addresses ...solana.PublicKey) (<-chan error, error) {
	told := make(chan error, len(addresses))
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, address := range addresses {
		at := f.at(address, w)
		at.wallet = at.wallet || wallet
		if at.subscribed {
			told <- nil
		} else {
			at.waiting = append(at.waiting, told)
		}
	}
	return told, f.ensureRunning()
}

// attachListener subscribes a listener to an address that is not an account of the program.
func (f *stream) attachListener(l *listener, address solana.PublicKey) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	at := f.at(address, l)
	at.wallet = true
	if at.subscribed {
		l.setConnected(true)
	}
	return f.ensureRunning()
}

// attachLater has an address watched, and looked at once more when the stream tells of it.
func (f *stream) attachLater(w *watcher, address solana.PublicKey) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	if at := f.at(address, w); !at.subscribed {
		at.later = append(at.later, w)
	}
	return f.ensureRunning()
}

func (f *stream) at(address solana.PublicKey, s subscriber) *topic {
	at := f.topics[address]
	if at == nil {
		_, stillTold := f.abandoned[address]
		delete(f.abandoned, address)
		at = &topic{subscribed: stillTold}
		f.topics[address] = at
	}
	if !slices.Contains(at.subscribers, s) {
		at.subscribers = append(at.subscribers, s)
	}
	return at
}

func (f *stream) ensureRunning() error {
	if !f.running {
		if !f.client.start(f.run) {
			return ErrClientClosed
		}
		f.running = true
	}
	signal(f.wake)
	return nil
}

// detach ends that an address is watched for a subscription.
func (f *stream) detach(s subscriber, addresses ...solana.PublicKey) {
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, address := range addresses {
		at := f.topics[address]
		if at == nil {
			continue
		}
		at.subscribers = slices.DeleteFunc(at.subscribers, func(other subscriber) bool { return other == s })
		if len(at.subscribers) > 0 {
			continue
		}
		delete(f.topics, address)
		if at.subscribed {
			f.abandoned[address] = struct{}{}
		}
	}
	signal(f.wake)
}

func signal(channel chan<- struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}

// run keeps a stream open while anything is watched.
func (f *stream) run() {
	ctx, cancel := context.WithCancel(f.client.closing)
	var reconciling sync.WaitGroup
	reconciling.Go(func() { f.reconcileLoop(ctx) })
	defer reconciling.Wait()
	defer cancel()
	if f.source == nil {
		f.source = f.client.eventSource()
	}
	pause := newReconnection()
	for {
		began := time.Now()
		err := f.listen(ctx)
		if f.stopIfIdle() || ctx.Err() != nil {
			return
		}
		f.lost(err)
		if err == nil {
			continue // somebody has come just when it was to end
		}
		if time.Since(began) > lastReconnect {
			pause.Reset()
		}
		f.await(ctx, pause.NextBackOff())
	}
}

// newReconnection returns the pauses between attempts after failures in a row.
func newReconnection() *backoff.ExponentialBackOff {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval, pause.Multiplier = firstReconnect, lastReconnect, 2
	pause.Reset()
	return pause
}

// stopIfIdle ends the stream if nothing is watched. The next one who watches something starts it again.
func (f *stream) stopIfIdle() bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	if len(f.topics) > 0 {
		return false
	}
	f.running = false
	clear(f.abandoned)
	return true
}

// await waits before the stream is opened again, less long if somebody new wants it.
func (f *stream) await(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-f.wake:
			f.lock.Lock()
			wanted := len(f.topics) == 0
			for _, at := range f.topics {
				wanted = wanted || len(at.waiting) > 0
			}
			f.lock.Unlock()
			if wanted {
				return
			}
		}
	}
}

// lost notes that there is no stream. If that is for an error, it tells those who wait for a subscription, and everyone if there never
// will be one.
func (f *stream) lost(err error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.downSince.IsZero() {
		f.downSince, f.lostAt = time.Now(), f.newest
		if f.client.logger != nil && err != nil {
			f.client.logger.Warn("the source of events is lost; what happens meanwhile is fetched", "error", err)
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

// listen opens a stream and keeps its subscriptions until it ends.
func (f *stream) listen(ctx context.Context) error {
	f.lock.Lock()
	var from uint64
	if !f.downSince.IsZero() {
		from = f.lostAt - min(f.lostAt, replayed)
	}
	f.lock.Unlock()
	stream, err := f.source.Open(ctx, StreamOptions{
		Commitment: f.client.commitment, FromSlot: from, Notify: f.hint, RPC: f.client.rpc,
	})
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		if err := f.resubscribe(ctx, stream); err != nil {
			return err
		}
		if f.isIdle() {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-stream.Done():
			return stream.Err()
		case <-f.wake:
		}
	}
}

func (f *stream) isIdle() bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return len(f.topics) == 0
}

// resubscribe subscribes to all topics, and unsubscribes from all other addresses.
func (f *stream) resubscribe(ctx context.Context, stream EventStream) error {
	for {
		add, remove := f.changes()
		if len(add) == 0 && len(remove) == 0 {
			f.restored()
			return nil
		}
		if len(remove) > 0 {
			if err := stream.Unsubscribe(remove); err != nil {
				return err
			}
		}
		if len(add) == 0 {
			continue
		}
		if err := stream.Subscribe(ctx, add); err != nil {
			return err
		}
		f.subscribed(add)
	}
}

func (f *stream) changes() (add, remove []solana.PublicKey) {
	f.lock.Lock()
	defer f.lock.Unlock()
	for address, at := range f.topics {
		if !at.subscribed && len(add) < subscribedAtOnce {
			add = append(add, address)
		}
	}
	for address := range f.abandoned {
		remove = append(remove, address)
	}
	clear(f.abandoned)
	return add, remove
}

// subscribed tells those who wait.
func (f *stream) subscribed(addresses []solana.PublicKey) {
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, address := range addresses {
		at := f.topics[address]
		if at == nil {
			f.abandoned[address] = struct{}{}
			continue
		}
		at.subscribed = true
		for _, s := range at.subscribers {
			s.setConnected(true)
		}
		for _, waiting := range at.waiting {
			waiting <- nil
		}
		for _, w := range at.later {
			w.refresh(address)
		}
		at.waiting, at.later = nil, nil
	}
}

// restored has the reconciler find what has happened while there was no stream.
func (f *stream) restored() {
	f.lock.Lock()
	defer f.lock.Unlock()
	if !f.downSince.IsZero() {
		if f.client.logger != nil {
			f.client.logger.Info("the source of events is back", "away", time.Since(f.downSince), "addresses", len(f.topics))
		}
		f.downSince = time.Time{}
		signal(f.reconcileNow)
	}
}

// notice is told by the source. It only takes notes.
func (f *stream) hint(n Hint) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.newest = max(f.newest, n.Slot)
	if n.Unrelated && !n.Signature.IsZero() {
		f.keepUnrelated(n.Signature, n.Slot)
		return
	}
	if at := f.topics[n.Address]; at != nil {
		for _, s := range at.subscribers {
			s.hint(n, at.wallet)
		}
	}
}
