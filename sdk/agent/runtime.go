package agent

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk"
)

const (
	// clockEvery is how often the chain's clock is read while anything depends on it.
	clockEvery = 2 * time.Second
	// sweepEvery is how often the wallet's negotiations are listed, to be sure that none has been missed; deafSweepEvery while nothing
	// can be heard.
	sweepEvery     = 5 * time.Minute
	deafSweepEvery = 15 * time.Second
	// listenAgain is how long after the end of a subscription the next one is made.
	listenAgain = 5 * time.Second
	// farewell is how long what is under way may take once Run is to end.
	farewell = 20 * time.Second
)

// Runtime runs the negotiations of one wallet. See the package documentation.
type Runtime struct {
	client  *haggle.Client
	signer  haggle.Signer
	self    solana.PublicKey
	config  Config
	running atomic.Bool
}

// New makes a runtime for the negotiations of the signer's account. It does nothing until Run.
func New(client *haggle.Client, signer haggle.Signer, config Config) (*Runtime, error) {
	if client == nil || signer == nil {
		return nil, errors.New("agent: client or signer is not given")
	}
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Runtime{client: client, signer: signer, self: signer.PublicKey(), config: config}, nil
}

// ErrRunning: Run has been called and has not returned.
var ErrRunning = errors.New("agent: the runtime is running already")

// Run runs the wallet's negotiations, those that there are and those that come, until the context ends or the client is closed. It
// finishes what is under way then, for at most 20 seconds, and answers with the context's error or [haggle.ErrClientClosed]. Nothing
// else ends it: a node that does not answer is asked again.
//
// It does not wait for a function of Config that does not return when its context ends.
func (r *Runtime) Run(ctx context.Context) error {
	if r.running.Swap(true) {
		return ErrRunning
	}
	defer r.running.Store(false)
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	l := &loop{
		Runtime:  r,
		ctx:      running,
		end:      end,
		inbox:    make(chan func()),
		stopped:  make(chan struct{}),
		sweepNow: make(chan struct{}, 1),
		followed: make(map[solana.PublicKey]*followed),
		seed:     maphash.MakeSeed(),
	}
	return l.run()
}

// loop is one run. What it knows is touched by the goroutine of run alone; the others post functions to it.
type loop struct {
	*Runtime
	ctx     context.Context
	end     context.CancelCauseFunc
	inbox   chan func()
	stopped chan struct{}

	followed map[solana.PublicKey]*followed
	agenda   agenda
	// now is the chain's time when it was last read.
	now int64
	// seed is for fingerprints.
	seed maphash.Seed
	// ready are tasks to start, urgent ones those that act.
	ready, urgent []func()
	busy          int
	stopping      bool
	// deaf says that there is no subscription. sweeping says that the negotiations are being listed, and sweepNow asks for that.
	deaf, sweeping bool
	sweepNow       chan struct{}
	lastSweep      time.Time
	// tasks are goroutines that Run waits for. questions are those of the agent's functions.
	tasks     sync.WaitGroup
	questions sync.WaitGroup
}

func (l *loop) run() error {
	l.recover()
	l.deaf = true
	l.tasks.Go(l.listen)
	l.tasks.Go(l.readClock)
	l.sweep()
	tick := time.NewTicker(deafSweepEvery)
	defer tick.Stop()
	for l.ctx.Err() == nil {
		l.dispatch()
		select {
		case change := <-l.inbox:
			change()
		case <-l.sweepNow:
			l.sweep()
		case <-tick.C:
			if l.deaf || time.Since(l.lastSweep) >= sweepEvery {
				l.sweep()
			}
		case <-l.ctx.Done():
		}
	}
	return l.stop()
}

// stop waits for what is under way.
func (l *loop) stop() error {
	l.stopping = true
	l.ready, l.urgent = nil, nil
	for _, f := range l.followed {
		if f.retry != nil {
			f.retry.Stop()
		}
	}
	finished := make(chan struct{})
	go func() {
		l.tasks.Wait()
		close(finished)
	}()
	for waiting := true; waiting; {
		select {
		case change := <-l.inbox:
			change()
		case <-finished:
			waiting = false
		}
	}
	close(l.stopped)
	asked := make(chan struct{})
	go func() {
		l.questions.Wait()
		close(asked)
	}()
	// Functions that heed their contexts return at once; others are not waited for.
	select {
	case <-asked:
	case <-time.After(questionsFarewell):
		l.config.Logger.Warn("a function of the agent's has not returned although its context has ended")
	}
	return context.Cause(l.ctx)
}

// questionsFarewell is how long the agent's functions may take to return once Run has ended.
const questionsFarewell = 2 * time.Second

// post has the loop do something.
func (l *loop) post(change func()) {
	select {
	case l.inbox <- change:
	case <-l.stopped:
	}
}

// dispatch starts tasks as long as there is room for them.
func (l *loop) dispatch() {
	for l.busy < l.config.Concurrency {
		var next func()
		switch {
		case len(l.urgent) > 0:
			next, l.urgent = l.urgent[0], l.urgent[1:]
		case len(l.ready) > 0:
			next, l.ready = l.ready[0], l.ready[1:]
		default:
			l.urgent, l.ready = nil, nil
			return
		}
		l.busy++
		l.tasks.Go(next)
	}
}

// task is something that is done beside the loop, which learns the result with what it returns.
func (l *loop) task(do func() func()) func() {
	return func() {
		finish := do()
		l.post(func() {
			l.busy--
			finish()
		})
	}
}

// recover resolves what an earlier process has left in the journal, if there is one.
func (l *loop) recover() {
	recovered, err := l.client.Recover(l.ctx, l.self)
	if err != nil && !errors.Is(err, haggle.ErrNoJournal) {
		l.config.Logger.Warn("what an earlier run has left unfinished is not resolved yet", "error", err)
	}
	for _, one := range recovered {
		l.config.Logger.Info("resolved what an earlier run has left unfinished",
			"action", one.Entry.Action, "negotiation", one.Entry.Negotiation, "outcome", one.Outcome)
	}
}

// readClock tells the loop the chain's time now and then.
func (l *loop) readClock() {
	ticker := time.NewTicker(clockEvery)
	defer ticker.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-ticker.C:
		}
		needed := make(chan bool, 1)
		l.post(func() { needed <- len(l.agenda) > 0 })
		select {
		case wanted := <-needed:
			if !wanted {
				continue
			}
		case <-l.ctx.Done():
			return
		}
		now, err := l.client.Now(l.ctx)
		if err != nil {
			l.config.Logger.Debug("the chain's clock could not be read", "error", err)
			continue
		}
		l.post(func() { l.tick(now) })
	}
}

// tick looks at what the time has come for.
func (l *loop) tick(now int64) {
	l.now = max(l.now, now)
	for f := l.agenda.due(l.now); f != nil; f = l.agenda.due(l.now) {
		if f.withdraw != nil {
			// It is being asked, and the time for that is over.
			f.withdraw(errTimeIsUp)
			continue
		}
		l.look(f)
	}
}

// listen keeps a subscription to everything that happens to the wallet's negotiations.
func (l *loop) listen() {
	for {
		err := l.hearAll()
		if l.ctx.Err() != nil {
			return
		}
		if errors.Is(err, haggle.ErrClientClosed) {
			l.end(err)
			return
		}
		l.config.Logger.Warn("no events can be heard for now", "error", err)
		l.post(func() { l.deaf = true })
		if !sleep(l.ctx, listenAgain) {
			return
		}
	}
}

func (l *loop) hearAll() error {
	subscription, err := l.client.WatchAgent(l.ctx, l.self)
	if err != nil {
		return err
	}
	defer subscription.Close()
	// What has happened before is in the list; what is in neither has not happened yet.
	l.post(func() {
		l.deaf = false
		l.askForSweep()
	})
	for seen := range subscription.Events() {
		l.post(func() { l.hear(seen) })
	}
	return subscription.Err()
}

func (l *loop) askForSweep() {
	select {
	case l.sweepNow <- struct{}{}:
	default:
	}
}

// sweep lists the wallet's negotiations.
func (l *loop) sweep() {
	if l.sweeping || l.stopping {
		return
	}
	l.sweeping, l.lastSweep = true, time.Now()
	known := make(map[solana.PublicKey]struct{}, len(l.followed))
	for address := range l.followed {
		known[address] = struct{}{}
	}
	l.tasks.Go(func() {
		now, err := l.client.Now(l.ctx)
		var found []*haggle.NegotiationAccount
		if err == nil {
			found, err = l.list()
		}
		l.post(func() {
			l.sweeping = false
			if err != nil {
				l.config.Logger.Warn("the wallet's negotiations could not be listed", "error", err)
				time.AfterFunc(listenAgain, l.askForSweep)
				return
			}
			l.now = max(l.now, now)
			for _, n := range found {
				delete(known, n.Address)
				l.listed(n)
			}
			for address := range known {
				// It is not there any more.
				if f := l.followed[address]; f != nil {
					l.look(f)
				}
			}
		})
	})
}

// list leaves out what cannot be decoded, which is of a later version.
func (l *loop) list() ([]*haggle.NegotiationAccount, error) {
	var found []*haggle.NegotiationAccount
	for n, err := range l.client.FindNegotiations(l.ctx, haggle.Filter{Agent: l.self}) {
		var undecodable *haggle.DecodeError
		if errors.As(err, &undecodable) {
			l.config.Logger.Warn("a negotiation cannot be read", "error", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, n)
	}
	return found, nil
}

// listed takes note of a negotiation as the list has it, and looks at it if there is something to do.
func (l *loop) listed(n *haggle.NegotiationAccount) {
	side, ok := n.SideOf(l.self)
	if !ok {
		return
	}
	f := l.followed[n.Address]
	if f == nil {
		f = &followed{address: n.Address, side: side, index: -1}
	} else if n.Slot < f.slot || l.fingerprint(n) == f.position {
		return
	}
	if f.busy {
		f.changed = true
		return
	}
	l.update(f, n)
	next := l.viewOf(f, n, l.now).plan()
	if l.followed[n.Address] == nil {
		if next.duty == done {
			return
		}
		l.followed[n.Address] = f
	}
	if next.duty != idle {
		l.look(f)
		return
	}
	l.agenda.wake(f, next.at)
}

// fingerprint tells one state of a negotiation from another; it is not zero.
func (l *loop) fingerprint(n *haggle.NegotiationAccount) uint64 {
	return maphash.Bytes(l.seed, n.Data) | 1
}

// viewOf is a negotiation as the agent looks at it, with what is known of it beside its state.
func (l *loop) viewOf(f *followed, n *haggle.NegotiationAccount, now int64) *view {
	v := &view{NegotiationAccount: n, side: f.side, now: now, margin: l.config.Margin, stance: f.stance}
	if f.answer.position == f.position {
		v.answer = f.answer
	}
	v.unpayable = f.unpayable == f.position && time.Now().Before(f.retryAt)
	return v
}

// update takes over what has been read.
func (l *loop) update(f *followed, n *haggle.NegotiationAccount) {
	if f.created != 0 && f.created != n.CreatedAt {
		// Another negotiation at the same address.
		*f = followed{
			address: f.address, side: f.side, index: f.index, wakeAt: f.wakeAt, busy: f.busy, retry: f.retry, absorbed: f.absorbed,
		}
	}
	f.side, _ = n.SideOf(l.self)
	f.live = f.live || !n.IsOver()
	f.created, f.position, f.slot = n.CreatedAt, l.fingerprint(n), max(f.slot, n.Slot)
	f.counterpart = n.Party(other(f.side))
	if f.stance == undecided && hasEngaged(n, f.side) {
		f.stance = engaged
	}
	if f.stance == undecided && l.cannotEngage(n, f.side) == "" && l.config.Admit == nil && f.side == haggle.OfferSideBuyer {
		f.stance = engaged
	}
	if n.IsOver() {
		f.result = resultOf(n, f.side)
	}
}

func other(side haggle.OfferSide) haggle.OfferSide {
	if side == haggle.OfferSideBuyer {
		return haggle.OfferSideSeller
	}
	return haggle.OfferSideBuyer
}

func resultOf(n *haggle.NegotiationAccount, side haggle.OfferSide) *Result {
	result := &Result{
		Negotiation: n.Address, Side: side, Counterpart: n.Party(other(side)), Status: n.Status, Rounds: n.CurrentRound,
	}
	if n.Status == haggle.NegotiationStatusSettled {
		result.Price = n.PaidGross
		result.Fee = n.FeeOn(n.PaidGross)
	}
	return result
}

// hear takes note of an event.
func (l *loop) hear(seen haggle.Observation) {
	if seen.Truncated {
		if f := l.followed[seen.Negotiation]; f != nil {
			f.offers = nil
			l.look(f)
		} else {
			l.askForSweep()
		}
		return
	}
	f := l.followed[seen.Negotiation]
	if f == nil {
		if _, closed := seen.Event.(*haggle.NegotiationClosed); closed {
			return
		}
		f = &followed{address: seen.Negotiation, index: -1}
		l.followed[seen.Negotiation] = f
	}
	f.note(seen)
	// A read at the same slot may be from before the event: a slot holds many.
	if seen.Slot < f.slot {
		return
	}
	if f.withdraw != nil {
		f.withdraw(errMovedOn)
	}
	l.look(f)
}

// note keeps what an event says that the account does not.
func (f *followed) note(seen haggle.Observation) {
	switch event := seen.Event.(type) {
	case *haggle.NegotiationCreated:
		f.offers, f.result, f.closed, f.live = nil, nil, false, true
	case *haggle.NegotiationClosed:
		f.closed = true
	case *haggle.OfferSubmitted:
		f.addOffer(pastOffer(event, seen.Slot))
	case *haggle.NegotiationSettled:
		f.result = &Result{Status: haggle.NegotiationStatusSettled, Price: event.SettledAmount, Fee: event.ProtocolFee, Rounds: event.TotalRounds}
	case *haggle.NegotiationExpired:
		f.result = &Result{Status: haggle.NegotiationStatusExpired, Rounds: event.RoundsCompleted}
	case *haggle.NegotiationRejected:
		f.result = &Result{Status: haggle.NegotiationStatusRejected, Rounds: event.RoundsCompleted}
	}
}

func (f *followed) addOffer(offer PastOffer) {
	at, known := slices.BinarySearchFunc(f.offers, offer.Round, func(o PastOffer, round uint8) int { return int(o.Round) - int(round) })
	if !known {
		f.offers = slices.Insert(f.offers, at, offer)
	}
}

// pastOffer is an offer as its event tells it: rounds alternate, and the buyer makes the first.
func pastOffer(event *haggle.OfferSubmitted, slot uint64) PastOffer {
	side := haggle.OfferSideSeller
	if event.Round%2 == 1 {
		side = haggle.OfferSideBuyer
	}
	return PastOffer{
		Round: event.Round, Side: side, Amount: event.Amount, Escrow: event.EffectiveEscrow, At: event.Timestamp, Slot: slot,
	}
}

// attributes are what every line of the log about a negotiation has.
func (f *followed) attributes(more ...any) []any {
	return append([]any{"negotiation", f.address, "side", f.side}, more...)
}

// sleep waits; false if the context has ended.
func sleep(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
