package haggle

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

const (
	// A connection that fails is made again after a pause that doubles, and varies so that not everyone comes back at once.
	firstReconnect = 100 * time.Millisecond
	lastReconnect  = 15 * time.Second
	// catchUpEvery is how often the node is asked whether it has kept something to itself: some drop notifications silently. The
	// more addresses there are to ask for, the longer it takes: catchUpPerAddress.
	catchUpEvery      = 20 * time.Second
	catchUpPerAddress = 100 * time.Millisecond
	// hintLimit is how long one transaction that the connection tells of may hold up the next ones until the node has it, and
	// doubtLimit how long it is looked for after that, every recheckEvery: longer than a blockhash lives.
	hintLimit    = 3 * time.Second
	recheckEvery = time.Second
	doubtLimit   = 2 * time.Minute
	// lateSlots is how much later than another a subscription may tell of the same transaction: some minutes.
	lateSlots = 512
)

// watcher keeps a subscription going. One goroutine uses it.
type watcher struct {
	client       *Client
	subscription *Subscription
	start        watchStart
	// Either fixed is the negotiation to watch, or agent is the one whose negotiations are watched.
	fixed solana.PublicKey
	agent solana.PublicKey

	// watched are the addresses whose transactions are listened to.
	watched []*watchedAddress
	// fresh are those of them that have just been added, and whose history is still to be fetched.
	fresh []*watchedAddress
	// seen are the transactions that have been handled since the oldest mark, with their slots.
	seen map[solana.Signature]uint64
	// doubtful are transactions that the connection has told of and that the node did not have in a block, and until when to look
	// for them.
	doubtful map[solana.Signature]time.Time
	// stream is the connection; nil between two.
	stream *logStream
}

type watchedAddress struct {
	address solana.PublicKey
	// known is how far everything has been handled.
	known mark
	// subscription is the connection's number for it.
	subscription uint64
}

// run watches until the context ends or the subscription fails for good. It says on connected whether it could begin.
func (w *watcher) run(ctx context.Context, connected chan<- error) {
	w.seen = make(map[solana.Signature]uint64)
	w.doubtful = make(map[solana.Signature]time.Time)
	err := w.begin(ctx)
	if err == nil {
		err = w.connect(ctx)
	}
	connected <- err
	if err == nil {
		err = w.keepListening(ctx)
	}
	w.disconnect()
	w.subscription.end(err)
}

func (w *watcher) keepListening(ctx context.Context) error {
	pause := firstReconnect
	for {
		began := time.Now()
		err := w.listen(ctx)
		for {
			w.disconnect()
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if isPermanent(err) {
				return err
			}
			if time.Since(began) > lastReconnect {
				pause = firstReconnect
			}
			if err := sleep(ctx, pause/2+rand.N(pause)); err != nil {
				return err
			}
			pause = min(2*pause, lastReconnect)
			if err = w.connect(ctx); err == nil {
				break
			}
		}
	}
}

func isPermanent(err error) bool {
	var refused *NodeError
	if errors.As(err, &refused) {
		return refused.Method == subscribeMethod && (refused.Code == methodNotFound || refused.Code == invalidParams)
	}
	return errors.Is(err, ErrHistoryTooLong)
}

// begin finds out what is to be watched, and from where.
func (w *watcher) begin(ctx context.Context) error {
	address := w.fixed
	if address.IsZero() {
		address = w.agent
	}
	// The agent's mark comes before the list of its negotiations: what is created in between is in both.
	from, err := w.startMark(ctx, address)
	if err != nil {
		return err
	}
	w.watched = append(w.watched, &watchedAddress{address: address, known: from})
	if w.agent.IsZero() {
		return nil
	}
	return w.discover(ctx, w.startMark)
}

func (w *watcher) startMark(ctx context.Context, address solana.PublicKey) (mark, error) {
	switch {
	case w.start.beginning:
		return mark{}, nil
	case !w.start.after.IsZero():
		return w.client.markAt(ctx, w.start.after)
	default:
		return w.client.newest(ctx, address)
	}
}

// discover watches the agent's negotiations that are not watched yet, each from its mark.
func (w *watcher) discover(ctx context.Context, markOf func(context.Context, solana.PublicKey) (mark, error)) error {
	for negotiation, err := range w.client.FindNegotiations(ctx, Filter{Agent: w.agent}) {
		var undecodable *DecodeError
		if errors.As(err, &undecodable) {
			continue // of a later version
		}
		if err != nil {
			return err
		}
		if w.find(negotiation.Address) != nil {
			continue
		}
		from, err := markOf(ctx, negotiation.Address)
		if err != nil {
			return err
		}
		if err := w.follow(ctx, negotiation.Address, from); err != nil {
			return err
		}
	}
	return nil
}

func (w *watcher) find(address solana.PublicKey) *watchedAddress {
	for _, watched := range w.watched {
		if watched.address == address {
			return watched
		}
	}
	return nil
}

// follow watches a negotiation from a mark on.
func (w *watcher) follow(ctx context.Context, address solana.PublicKey, from mark) error {
	if watched := w.find(address); watched != nil {
		// It was listed when it had just been created; its history begins before that.
		if from.slot <= watched.known.slot && from.signature != watched.known.signature {
			watched.known = from
			w.fresh = append(w.fresh, watched)
		}
		return nil
	}
	watched := &watchedAddress{address: address, known: from}
	w.watched = append(w.watched, watched)
	w.fresh = append(w.fresh, watched)
	if w.stream == nil {
		return nil
	}
	var err error
	watched.subscription, err = w.stream.subscribe(ctx, address)
	return err
}

// unfollow forgets a negotiation that has been closed.
func (w *watcher) unfollow(address solana.PublicKey) error {
	is := func(watched *watchedAddress) bool { return watched.address == address }
	watched := w.find(address)
	w.watched = slices.DeleteFunc(w.watched, is)
	w.fresh = slices.DeleteFunc(w.fresh, is)
	if watched == nil || w.stream == nil {
		return nil
	}
	return w.stream.unsubscribe(watched.subscription)
}

func (w *watcher) connect(ctx context.Context) (err error) {
	if w.stream, err = dialLogs(ctx, w.client.wsEndpoint, w.client.commitment); err != nil {
		return err
	}
	for _, watched := range w.watched {
		if watched.subscription, err = w.stream.subscribe(ctx, watched.address); err != nil {
			return err
		}
	}
	return nil
}

func (w *watcher) disconnect() {
	if w.stream != nil {
		w.stream.close()
		w.stream = nil
	}
}

// listen handles what the connection tells, after what has happened before it was made, until it ends.
func (w *watcher) listen(ctx context.Context) error {
	if err := w.catchUp(ctx); err != nil {
		return err
	}
	again, recheck := time.NewTimer(w.untilCatchUp()), time.NewTicker(recheckEvery)
	defer again.Stop()
	defer recheck.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.stream.done:
			return w.stream.failure()
		case <-w.stream.wake:
			err = w.hear(ctx, w.stream.take())
		case <-recheck.C:
			err = w.resolveDoubts(ctx)
		case <-again.C:
			err = w.catchUp(ctx)
			again.Reset(w.untilCatchUp())
		}
		if err != nil {
			return err
		}
	}
}

func (w *watcher) untilCatchUp() time.Duration {
	return catchUpEvery + time.Duration(len(w.watched))*catchUpPerAddress
}

// hear handles transactions that the connection tells of. They may not be in the chain, yet or ever.
func (w *watcher) hear(ctx context.Context, signatures []solana.Signature) error {
	for _, signature := range signatures {
		if _, seen := w.seen[signature]; seen {
			continue
		}
		details, err := w.client.executed(ctx, signature, hintLimit)
		if errors.Is(err, errNoDetails) {
			w.doubtful[signature] = time.Now().Add(doubtLimit)
			continue
		}
		if err == nil {
			err = w.handle(ctx, signature, details)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *watcher) resolveDoubts(ctx context.Context) error {
	for signature, end := range w.doubtful {
		details, err := w.client.lookUp(ctx, signature)
		if err != nil {
			return err
		}
		if details != nil {
			err = w.handle(ctx, signature, details)
		}
		if details != nil || time.Now().After(end) {
			delete(w.doubtful, signature)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// catchUp fetches what has happened at the watched addresses since their marks, and moves the marks.
func (w *watcher) catchUp(ctx context.Context) error {
	head, err := w.client.rpc.GetSlot(ctx, w.client.commitment)
	if err != nil {
		return err
	}
	w.fresh = nil // they are among the watched
	listed := make(map[*watchedAddress][]entry)
	var all []entry
	// The agent comes last: of several transactions in one slot, a negotiation's own history knows the order.
	for _, watched := range w.agentLast() {
		entries, err := w.client.since(ctx, watched.address, watched.known)
		if err != nil {
			return err
		}
		listed[watched] = entries
		all = append(all, entries...)
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.slot, b.slot) })
	for _, item := range all {
		if err := w.fetch(ctx, item); err != nil {
			return err
		}
	}
	for watched, entries := range listed {
		watched.known = watched.known.advance(entries, head)
	}
	// What waits may be what has just been handled, or what another subscription has told of: it must not be forgotten before.
	if err := w.hear(ctx, w.stream.take()); err != nil {
		return err
	}
	w.forget()
	return nil
}

func (w *watcher) agentLast() []*watchedAddress {
	sorted := slices.Clone(w.watched)
	slices.SortStableFunc(sorted, func(a, b *watchedAddress) int {
		return cmp.Compare(rankOf(a.address == w.agent), rankOf(b.address == w.agent))
	})
	return sorted
}

func rankOf(last bool) int {
	if last {
		return 1
	}
	return 0
}

// forget drops the transactions that no list since the marks will have again, and that no late notification will tell of.
func (w *watcher) forget() {
	if len(w.watched) == 0 {
		return
	}
	oldest := w.watched[0].known.slot
	for _, watched := range w.watched {
		oldest = min(oldest, watched.known.slot)
	}
	for signature, slot := range w.seen {
		if slot+lateSlots < oldest {
			delete(w.seen, signature)
		}
	}
}

// fetch handles a transaction that is known from a list.
func (w *watcher) fetch(ctx context.Context, item entry) error {
	if _, seen := w.seen[item.signature]; seen || item.failed {
		return nil
	}
	details, err := w.client.executed(ctx, item.signature, detailsLimit)
	if errors.Is(err, errNoDetails) {
		w.seen[item.signature] = item.slot
		return w.tellUnclear(ctx, item.signature, item.slot)
	}
	if err != nil {
		return err
	}
	return w.handle(ctx, item.signature, details)
}

// handle tells the events of a transaction that is in the chain, unless that has been done.
func (w *watcher) handle(ctx context.Context, signature solana.Signature, details *rpc.GetTransactionResult) error {
	if _, seen := w.seen[signature]; seen {
		return nil
	}
	w.seen[signature] = details.Slot
	if details.Meta.Err != nil {
		return nil
	}
	events, unclear := ParseLogs(details.Meta.LogMessages)
	for _, event := range events {
		if err := w.handleEvent(ctx, mark{signature: signature, slot: details.Slot}, event); err != nil {
			return err
		}
	}
	if unclear != nil && mentionsProgram(details) {
		if err := w.tellUnclear(ctx, signature, details.Slot); err != nil {
			return err
		}
	}
	return w.catchUpFresh(ctx)
}

func (w *watcher) handleEvent(ctx context.Context, at mark, event Event) error {
	negotiation, ok := event.NegotiationAddress()
	if !ok {
		return nil
	}
	created, isCreated := event.(*NegotiationCreated)
	if isCreated && !w.agent.IsZero() && (created.Buyer == w.agent || created.Seller == w.agent) {
		if err := w.follow(ctx, negotiation, at); err != nil {
			return err
		}
	}
	if negotiation == w.agent || w.find(negotiation) == nil {
		return nil
	}
	seen := Observation{Signature: at.signature, Slot: at.slot, Negotiation: negotiation, Event: event}
	if err := w.tell(ctx, seen); err != nil {
		return err
	}
	if _, isClosed := event.(*NegotiationClosed); isClosed && !w.agent.IsZero() {
		return w.unfollow(negotiation)
	}
	return nil
}

// tellUnclear tells that there may be more than can be told, and looks for negotiations that may have been created there.
func (w *watcher) tellUnclear(ctx context.Context, signature solana.Signature, slot uint64) error {
	seen := Observation{Signature: signature, Slot: slot, Negotiation: w.fixed, Truncated: true}
	if err := w.tell(ctx, seen); err != nil {
		return err
	}
	if w.agent.IsZero() {
		return nil
	}
	return w.discover(ctx, func(context.Context, solana.PublicKey) (mark, error) { return mark{}, nil })
}

// catchUpFresh fetches what has happened to negotiations that have just been added, before they were listened to.
func (w *watcher) catchUpFresh(ctx context.Context) error {
	for len(w.fresh) > 0 && w.stream != nil {
		watched := w.fresh[0]
		w.fresh = w.fresh[1:]
		entries, err := w.client.since(ctx, watched.address, watched.known)
		if err != nil {
			return err
		}
		for _, item := range entries {
			if err := w.fetch(ctx, item); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *watcher) tell(ctx context.Context, seen Observation) error {
	select {
	case w.subscription.events <- seen:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
