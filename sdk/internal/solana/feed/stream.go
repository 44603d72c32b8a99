package feed

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/internal/fifocache"
	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

const (
	// A failed stream is opened again after a doubling pause. The pause varies to keep clients from
	// reconnecting all at once.
	firstReconnect = 100 * time.Millisecond
	lastReconnect  = 15 * time.Second
	// subscribeBatch limits the addresses per call of Subscribe, so the first addresses need not wait for the
	// last.
	subscribeBatch = 1000
	// maxWorkers limits the subscriptions that are worked on at once.
	maxWorkers = 16
	// unrelatedKept limits the unrelated transactions whose signatures are kept to avoid fetching them.
	unrelatedKept = 1 << 16
	// headValidFor is how long a known slot of the node is used instead of a new request.
	headValidFor = time.Second
	// ReplaySlots is how many slots before the last known slot a new stream begins. The newest slots may be
	// incomplete, and some sources cannot replay several minutes.
	ReplaySlots = 32
	// rollbackLimit is how many slots a node's response may be behind the newest known slot and still be
	// ignored. A response further behind replaces the newest known slot, which then came from a wrong
	// response.
	rollbackLimit = 150
)

// Feed keeps a stream of the source open, reconnects, and passes the hints on to the subscribers. Workers run
// the watchers; a reconciler finds the transactions that the source missed. The stream is open while any
// subscriber exists.
type Feed struct {
	Options
	// closing ends with Close, which then waits for running. closeLock ensures that nothing starts in between.
	closing   context.Context
	cancel    context.CancelFunc
	closeLock sync.Mutex
	running   sync.WaitGroup

	lock sync.Mutex
	// topics holds the addresses with subscribers.
	topics map[solana.PublicKey]*topic
	// abandoned holds addresses without subscribers. The source's stream is still subscribed to them.
	abandoned map[solana.PublicKey]struct{}
	streaming bool
	// wake receives an element when addresses must be subscribed to or unsubscribed from, and reconcileNow
	// when the reconciler must run now.
	wake, reconcileNow chan struct{}
	// downSince is the time when the connection was lost, and downSlot the newest slot then; zero while it is
	// connected.
	downSince time.Time
	downSlot  uint64
	// newest is the newest slot of any hint or response. Lag alone uses it, because a source may report any
	// slot.
	newest uint64
	// head is a slot reached by the node at headAt.
	head   uint64
	headAt time.Time
	// reconciledAt is when the last reconciliation ended.
	reconciledAt time.Time
	// unrelated holds the transactions that do not concern this program, with their slots.
	unrelated *fifocache.Map[solana.Signature, uint64]

	// readyLock guards the fields below. It may be taken while other locks are held.
	readyLock sync.Mutex
	// ready holds the watchers with work to do.
	ready   []*watcher
	workers int
}

// topic is an address with subscribers.
type topic struct {
	subscribers []subscriber
	// subscribed reports whether the source's stream is subscribed to the address; waiting holds the
	// channels that receive it.
	subscribed bool
	waiting    []chan<- error
	// refreshing holds watchers that list the address once it is subscribed.
	refreshing []*watcher
	// wallet reports whether no program account exists at the address.
	wallet bool
	// fingerprint is the hashed account content, and changedAt the slot where it was first read.
	fingerprint uint64
	changedAt   uint64
}

// subscriber receives hints and changes for its addresses. The methods return at once.
type subscriber interface {
	// hint reports a transaction; wallet is the topic's.
	hint(h events.Hint, wallet bool)
	// refresh requests a list of an address, because new transactions may exist.
	refresh(address solana.PublicKey)
	// recordUnchanged records that an account did not change between two slots. It returns false if the
	// address must be listed first.
	recordUnchanged(address solana.PublicKey, from, to uint64) bool
	// setConnected reports whether hints arrive.
	setConnected(connected bool)
	// fail reports that no further hint will arrive.
	fail(err error)
}

// attach subscribes a watcher to addresses. The channel receives a value for each address: nil when the
// source's stream is subscribed to it, or the reason why not.
func (f *Feed) attach(w *watcher, wallet bool, addresses ...solana.PublicKey) (<-chan error, error) {
	result := make(chan error, len(addresses))
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, address := range addresses {
		at := f.at(address, w)
		at.wallet = at.wallet || wallet
		if at.subscribed {
			result <- nil
		} else {
			at.waiting = append(at.waiting, result)
		}
	}
	return result, f.ensureRunning()
}

// attachListener subscribes a listener to an address that is not an account of the program.
func (f *Feed) attachListener(l *listener, address solana.PublicKey) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	at := f.at(address, l)
	at.wallet = true
	if at.subscribed {
		l.setConnected(true)
	}
	return f.ensureRunning()
}

// attachAndRefresh subscribes a watcher to an address. The watcher lists the address again once the source's
// stream is subscribed.
func (f *Feed) attachAndRefresh(w *watcher, address solana.PublicKey) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	if at := f.at(address, w); !at.subscribed {
		at.refreshing = append(at.refreshing, w)
	}
	return f.ensureRunning()
}

func (f *Feed) at(address solana.PublicKey, s subscriber) *topic {
	at := f.topics[address]
	if at == nil {
		_, stillSubscribed := f.abandoned[address]
		delete(f.abandoned, address)
		at = &topic{subscribed: stillSubscribed}
		f.topics[address] = at
	}
	if !slices.Contains(at.subscribers, s) {
		at.subscribers = append(at.subscribers, s)
	}
	return at
}

func (f *Feed) ensureRunning() error {
	if !f.streaming {
		if !f.start(f.run) {
			return ErrClosed
		}
		f.streaming = true
	}
	signal(f.wake)
	return nil
}

// detach removes the subscriber of addresses.
func (f *Feed) detach(s subscriber, addresses ...solana.PublicKey) {
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

// run keeps a stream open while any topic exists.
func (f *Feed) run() {
	ctx, cancel := context.WithCancel(f.closing)
	var reconciling sync.WaitGroup
	reconciling.Go(func() { f.reconcileLoop(ctx) })
	defer reconciling.Wait()
	defer cancel()
	pause := newReconnection()
	for {
		began := time.Now()
		err := f.listen(ctx)
		if f.stopIfIdle() || ctx.Err() != nil {
			return
		}
		f.disconnected(err)
		if err == nil {
			continue // a subscriber was added while the stream was ending
		}
		if time.Since(began) > lastReconnect {
			pause.Reset()
		}
		_ = wait.For(ctx, pause.NextBackOff())
	}
}

// stopIfIdle ends the stream if no topic exists. The next subscriber starts it again.
func (f *Feed) stopIfIdle() bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	if len(f.topics) > 0 {
		return false
	}
	f.streaming = false
	clear(f.abandoned)
	return true
}

// listen opens a stream and keeps the subscriptions until it ends.
func (f *Feed) listen(ctx context.Context) error {
	f.lock.Lock()
	var from uint64
	if !f.downSince.IsZero() {
		from = f.downSlot - min(f.downSlot, ReplaySlots)
	}
	f.lock.Unlock()
	stream, err := f.Source.Open(ctx, events.Options{
		Program: f.Program, Commitment: f.Commitment, FromSlot: from, Notify: f.hint, RPC: f.RPC,
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

func (f *Feed) isIdle() bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return len(f.topics) == 0
}

// resubscribe subscribes to all topics, and unsubscribes from all other addresses.
func (f *Feed) resubscribe(ctx context.Context, stream events.Stream) error {
	for {
		add, remove := f.changes()
		if len(add) == 0 && len(remove) == 0 {
			f.reconnected()
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

func (f *Feed) changes() (add, remove []solana.PublicKey) {
	f.lock.Lock()
	defer f.lock.Unlock()
	for address, at := range f.topics {
		if !at.subscribed && len(add) < subscribeBatch {
			add = append(add, address)
		}
	}
	remove = slices.Collect(maps.Keys(f.abandoned))
	clear(f.abandoned)
	return add, remove
}

// subscribed marks the addresses as subscribed and notifies their subscribers.
func (f *Feed) subscribed(addresses []solana.PublicKey) {
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
		for _, w := range at.refreshing {
			w.refresh(address)
		}
		at.waiting, at.refreshing = nil, nil
	}
}

// hint receives the source's hints. It does not block.
func (f *Feed) hint(n events.Hint) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.newest = max(f.newest, n.Slot)
	if n.Unrelated && !n.Signature.IsZero() {
		f.unrelated.Put(n.Signature, n.Slot)
		return
	}
	if at := f.topics[n.Address]; at != nil {
		for _, s := range at.subscribers {
			s.hint(n, at.wallet)
		}
	}
}
