package agent

import (
	"context"
	"errors"
	"hash/maphash"
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
	// sweepPause is how long after one list the next one is made at the earliest: anyone can have it asked for.
	sweepPause = time.Second
	// listenAgain is how long after the end of a subscription the next one is made.
	listenAgain = 5 * time.Second
	// farewell is how long what is under way may take once Run is to end.
	farewell = 20 * time.Second
	// questionsFarewell is how long the agent's functions may take to return after that.
	questionsFarewell = 2 * time.Second
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

// ErrRunning: Run or RunOne has been called and has not returned.
var ErrRunning = errors.New("agent: the runtime is running already")

// Run runs the wallet's negotiations, those that there are and those that come, until the context ends or the client is closed. It
// finishes what is under way then, for at most 20 seconds, and answers with the context's error or [haggle.ErrClientClosed]. Nothing
// else ends it: a node that does not answer is asked again.
//
// It does not wait for a function of Config that does not return when its context ends.
func (r *Runtime) Run(ctx context.Context) error { return r.start(ctx, nil) }

// start runs all negotiations, or one.
func (r *Runtime) start(ctx context.Context, one *single) error {
	if r.running.Swap(true) {
		return ErrRunning
	}
	defer r.running.Store(false)
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	l := &loop{
		Runtime:  r,
		one:      one,
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
	// one is nil if it is not about one negotiation.
	one *single

	followed map[solana.PublicKey]*followed
	agenda   agenda
	// now is the chain's time when it was last read. It can go back: a node may have been wrong.
	now int64
	// seed is for fingerprints.
	seed maphash.Seed
	// ready are tasks to start, urgent ones those that act.
	ready, urgent []func()
	busy          int
	stopping      bool
	// deaf says that there is no subscription. sweeping says that the negotiations are being listed, and sweepNow asks for that.
	deaf, sweeping bool
	// sweepAgain says that a list has been asked for since the one that is being made was begun.
	sweepAgain bool
	sweepNow   chan struct{}
	lastSweep  time.Time
	// tasks are goroutines that Run waits for. questions are those of the agent's functions.
	tasks     sync.WaitGroup
	questions sync.WaitGroup
}

func (l *loop) run() error {
	l.recover()
	l.deaf = true
	l.beginOne()
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
			if pause := sweepPause - time.Since(l.lastSweep); pause > 0 {
				time.AfterFunc(pause, l.askForSweep)
				continue
			}
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
	l.now = now
	for f := l.agenda.due(l.now); f != nil; f = l.agenda.due(l.now) {
		if f.withdraw != nil {
			// It is being asked, and the time for that is over.
			f.withdraw(errTimeIsUp)
			continue
		}
		l.look(f)
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
