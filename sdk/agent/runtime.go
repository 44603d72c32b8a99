package agent

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

const (
	// clockEvery is how often the chain's clock is read while any deadline depends on the clock.
	clockEvery = 2 * time.Second
	// reconcileEvery is how often the wallet's negotiations are listed, which finds missed events; while
	// unsubscribed, reconcileUnsubscribedEvery is used.
	reconcileEvery             = 5 * time.Minute
	reconcileUnsubscribedEvery = 15 * time.Second
	// reconcilePause is the shortest pause between lists: anyone can cause a list.
	reconcilePause = time.Second
	// resubscribeAfter is the pause until an ended subscription is renewed.
	resubscribeAfter = 5 * time.Second
	// shutdownTimeout is how long actions in progress may take once Run is to end.
	shutdownTimeout = 20 * time.Second
	// callsShutdownTimeout is how long the agent's functions may take to return after that.
	callsShutdownTimeout = 2 * time.Second
)

// Runtime runs a wallet's negotiations. See the package documentation.
type Runtime struct {
	client  *haggle.Client
	signer  haggle.Signer
	self    solana.PublicKey
	config  Config
	running atomic.Bool
	// preflightTimeout is the constant, and verifySettlement the client's method, except in tests.
	preflightTimeout time.Duration
	verifySettlement func(context.Context, haggle.Settlement) error
}

// New returns a runtime for the negotiations of the signer's account, and sends nothing. It returns an error
// if the configuration leaves out a required field, such as Mints, or if a single node must prove settlements
// that the limits do not trust it with: see [Limits].SingleSourceUpTo.
func New(client *haggle.Client, signer haggle.Signer, config Config) (*Runtime, error) {
	if client == nil || signer == nil {
		return nil, errors.New("agent: client or signer not set")
	}
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := config.checkSources(client.Nodes()); err != nil {
		return nil, err
	}
	return &Runtime{
		client: client, signer: signer, self: signer.PublicKey(), config: config,
		preflightTimeout: preflightTimeout, verifySettlement: client.VerifySettlement,
	}, nil
}

// ErrRunning: an earlier call of Run or RunOne is still running.
var ErrRunning = errors.New("agent: runtime already running")

// Run runs the wallet's negotiations, present and future, until the context ends or the client is closed.
// Then it finishes actions in progress, for up to 20 seconds, and returns the context's error or
// [haggle.ErrClientClosed]. It retries after all other errors.
//
// First it runs the checks of [Preflight]. It returns a [*StartError] if no node responds within one minute,
// if the program is not deployed or configured on the cluster, if a mint of Config.Mints does not exist
// there, if the wallet lacks lamports for fees, if a buyer lacks both tokens and negotiations, or if the
// signer is a policy that signs nothing. It logs warnings, for example about the source of events.
//
// It does not wait for a function of Config that does not return when the context ends.
func (r *Runtime) Run(ctx context.Context) error { return r.start(ctx, nil) }

// start runs all negotiations, or a single negotiation.
func (r *Runtime) start(ctx context.Context, only *single) error {
	if r.running.Swap(true) {
		return ErrRunning
	}
	defer r.running.Store(false)
	if err := r.preflight(ctx, only); err != nil {
		return err
	}
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	return r.newLoop(running, end, only).run()
}

func (r *Runtime) newLoop(ctx context.Context, end context.CancelCauseFunc, only *single) *loop {
	return &loop{
		Runtime:      r,
		single:       only,
		ctx:          ctx,
		end:          end,
		inbox:        make(chan func()),
		stopped:      make(chan struct{}),
		reconcileNow: make(chan struct{}, 1),
		tracked:      make(map[solana.PublicKey]*tracked),
		backoffs:     make(map[solana.PublicKey]backoff),
		verifying:    make(map[dealID]*verification),
		seed:         maphash.MakeSeed(),
	}
}

// loop is a run. Only the goroutine of run uses the fields; other goroutines post functions to it.
type loop struct {
	*Runtime
	ctx     context.Context
	end     context.CancelCauseFunc
	inbox   chan func()
	stopped chan struct{}
	// single is nil unless the run is about a single negotiation.
	single *single

	tracked map[solana.PublicKey]*tracked
	// backoffs holds the backoffs for a seller's counterparties.
	backoffs map[solana.PublicKey]backoff
	// verifying holds the settlements whose verification is in progress.
	verifying map[dealID]*verification
	// listed reports whether the first list of the wallet's negotiations succeeded or failed.
	listed bool
	// now is the chain's time as last read. It can go back: nodes can return wrong times.
	now int64
	// seed is for fingerprints.
	seed maphash.Seed
	// reads are snapshots of negotiations, and actions those on chain.
	reads, actions pool
	stopping       bool
	// unsubscribed reports whether there is no subscription, and reconciling whether a list is in progress.
	unsubscribed, reconciling bool
	// reconcileAgain reports whether another list is due after the list in progress.
	reconcileAgain bool
	reconcileNow   chan struct{}
	lastReconcile  time.Time
	// tasks are goroutines that Run waits for, and calls counts the agent functions' calls.
	tasks sync.WaitGroup
	calls sync.WaitGroup
}

func (l *loop) run() error {
	l.unsubscribed = true
	l.beginSingle()
	l.tasks.Go(l.recover)
	l.tasks.Go(l.listen)
	l.tasks.Go(l.readClock)
	l.reconcile()
	tick := time.NewTicker(reconcileUnsubscribedEvery)
	defer tick.Stop()
	for l.ctx.Err() == nil {
		l.dispatch()
		select {
		case change := <-l.inbox:
			change()
		case <-l.reconcileNow:
			if pause := reconcilePause - time.Since(l.lastReconcile); pause > 0 {
				time.AfterFunc(pause, l.requestReconcile)
				continue
			}
			l.reconcile()
		case <-tick.C:
			if l.unsubscribed || time.Since(l.lastReconcile) >= reconcileEvery {
				l.reconcile()
			}
		case <-l.ctx.Done():
		}
	}
	return l.stop()
}

// stop waits for actions in progress.
func (l *loop) stop() error {
	l.stopping = true
	l.reads.clear()
	l.actions.clear()
	for _, f := range l.tracked {
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
	returned := make(chan struct{})
	go func() {
		l.calls.Wait()
		close(returned)
	}()
	// Functions that respect their contexts return at once.
	select {
	case <-returned:
	case <-time.After(callsShutdownTimeout):
		l.config.Logger.Warn("a function of the agent has not returned although its context has ended")
	}
	return context.Cause(l.ctx)
}

// post runs a function in the loop's goroutine.
func (l *loop) post(change func()) {
	select {
	case l.inbox <- change:
	case <-l.stopped:
	}
}

// pool starts tasks in goroutines, with limited concurrency.
type pool struct {
	urgent, ready []func()
	running       int
}

// add adds a task, which must decrease running once it no longer counts.
func (p *pool) add(urgent bool, task func()) {
	if urgent {
		p.urgent = append(p.urgent, task)
	} else {
		p.ready = append(p.ready, task)
	}
}

// next removes the next task; nil if there is none.
func (p *pool) next() (task func()) {
	switch {
	case len(p.urgent) > 0:
		task, p.urgent = p.urgent[0], p.urgent[1:]
	case len(p.ready) > 0:
		task, p.ready = p.ready[0], p.ready[1:]
	default:
		p.urgent, p.ready = nil, nil
	}
	return task
}

func (p *pool) clear() { p.urgent, p.ready = nil, nil }

// dispatch starts tasks as long as there is room for them. Reads and actions do not wait for each other.
func (l *loop) dispatch() {
	for _, p := range []*pool{&l.reads, &l.actions} {
		for p.running < l.config.Concurrency {
			task := p.next()
			if task == nil {
				break
			}
			p.running++
			l.tasks.Go(task)
		}
	}
}

// recover resolves the transactions that an earlier process left in the journal, if a journal is used.
// Actions do so too, so the run does not wait for it.
func (l *loop) recover() {
	recovered, err := l.client.Recover(l.ctx, l.self)
	if err != nil && l.ctx.Err() == nil && !errors.Is(err, haggle.ErrNoJournal) {
		l.config.Logger.Warn("transactions of an earlier run are unresolved", "error", err)
	}
	for _, tx := range recovered {
		l.config.Logger.Info("resolved a transaction of an earlier run", "action", tx.Entry.Action,
			"negotiation", tx.Entry.Negotiation, "outcome", tx.Outcome)
	}
}

// inLoop returns the result of a function that runs in the loop's goroutine, for a task that Run waits for.
func inLoop[T any](l *loop, read func() T) T {
	result := make(chan T, 1)
	l.post(func() { result <- read() })
	return <-result
}

// readClock reads the chain's clock every clockEvery while a negotiation waits for a time to refresh.
func (l *loop) readClock() {
	for wait.For(l.ctx, clockEvery) == nil {
		if !inLoop(l, l.hasWakeTime) {
			continue
		}
		now, err := l.client.Now(l.ctx)
		if err != nil {
			l.config.Logger.Debug("reading the chain's clock failed", "error", err)
			continue
		}
		l.post(func() { l.tick(now) })
	}
}

func (l *loop) hasWakeTime() bool {
	for _, f := range l.tracked {
		if f.wakeAt != 0 {
			return true
		}
	}
	return false
}

// tick refreshes the negotiations whose wakeAt passed, the earliest first. If a call is pending, it ends the
// call instead.
func (l *loop) tick(now int64) {
	l.now = now
	var due []*tracked
	for _, f := range l.tracked {
		if f.wakeAt != 0 && f.wakeAt <= now {
			due = append(due, f)
		}
	}
	slices.SortFunc(due, func(a, b *tracked) int { return cmp.Compare(a.wakeAt, b.wakeAt) })
	for _, f := range due {
		f.wakeAt = 0
		if f.call != nil {
			f.call.cancel(errTimeIsUp)
			continue
		}
		l.refresh(f)
	}
}

// attributes returns a negotiation's log attributes.
func (f *tracked) attributes(more ...any) []any {
	return append([]any{"negotiation", f.address, "side", f.side}, more...)
}
