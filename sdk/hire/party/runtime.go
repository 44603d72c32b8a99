package party

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

// runtime runs an agent's conversations.
type runtime struct {
	Config
	role   hire.Role
	self   string
	decide func(context.Context, Turn) (Move, error)
	// capability answers inquiries; nil for a seeker.
	capability func(hire.Reply) hire.Payload
	settler    *settler

	tasks sync.WaitGroup
	mu    sync.Mutex
	// rules come from the home's card, read by run.
	rules hire.Rules
	// running is run's context. ready is closed once all open conversations are known.
	running context.Context
	ready   chan struct{}
	tracked map[place]*tracked
	waiting map[place][]chan Result
	// abandoned holds recent deals reported as abandoned.
	abandoned map[place]abandonment
}

// abandonment is a reported end.
type abandonment struct {
	deal int
	at   time.Time
}

// place identifies a conversation of the agent.
type place struct{ conversation, counterpart string }

func newRuntime(config Config, role hire.Role, decide func(context.Context, Turn) (Move, error)) (*runtime, error) {
	config, err := config.withDefaults(role)
	if err != nil {
		return nil, err
	}
	return &runtime{
		Config: config, role: role, self: config.Home.Agent, decide: decide, ready: make(chan struct{}),
		tracked: map[place]*tracked{}, waiting: map[place][]chan Result{}, abandoned: map[place]abandonment{},
	}, nil
}

// run processes messages until the context ends, or the home refuses the agent.
func (r *runtime) run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer r.tasks.Wait()
	defer stop(nil)
	open, err := r.openConversations(ctx, "")
	if err != nil {
		return err
	}
	home, err := r.Resolver.Await(ctx, r.Home.Origin)
	if err != nil {
		return fmt.Errorf("party: home: %w", err)
	}
	r.rules = home.Card.Rules()
	if err := r.checkTimeouts(); err != nil {
		return err
	}
	if r.settler != nil {
		r.tasks.Go(func() { stop(r.settler.run(ctx)) })
	}
	if err := r.resume(ctx, open); err != nil {
		return err
	}
	r.running = ctx
	close(r.ready)
	for event, err := range r.Home.Events(ctx, open.Latest) {
		if err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		r.receive(ctx, event.Message)
	}
	return context.Cause(ctx)
}

// checkTimeouts returns an error if the home's longest timeout exceeds Patience. It ignores a worker's own home.
func (r *runtime) checkTimeouts() error {
	if r.role == hire.RoleWorker && r.self == r.Home.Origin {
		return nil
	}
	timeouts := r.rules.Timeouts.WithDefaults()
	longest := max(timeouts.FirstResponse, timeouts.Clarification, timeouts.Acceptance)
	if longest > r.Patience {
		return beyond("the home has a timeout of %s, and Patience is %s", longest, r.Patience)
	}
	return nil
}

// openConversations returns a page of the agent's open conversations.
func (r *runtime) openConversations(ctx context.Context, after string) (*hire.ConversationPage, error) {
	page, err := r.Home.Conversations(ctx, hire.ConversationQuery{Open: true, After: after})
	if err != nil {
		return nil, fmt.Errorf("party: open conversations: %w", err)
	}
	return page, nil
}

// resume follows the open conversations, starting at their first page. Later messages are events after that
// page's number.
func (r *runtime) resume(ctx context.Context, page *hire.ConversationPage) error {
	for {
		for _, c := range page.Conversations {
			counterpart := c.Worker
			if r.role == hire.RoleWorker {
				counterpart = c.Seeker
			}
			if r.isMine(c.Seeker, c.Worker) {
				r.track(ctx, place{c.ID, counterpart}, nil)
			}
		}
		if page.Next == "" {
			return nil
		}
		var err error
		if page, err = r.openConversations(ctx, page.Next); err != nil {
			return err
		}
	}
}

func (r *runtime) isMine(seeker, worker string) bool {
	if r.role == hire.RoleWorker {
		return worker == r.self
	}
	return seeker == r.self
}

// receive passes a streamed message to the right conversation.
func (r *runtime) receive(ctx context.Context, m *hire.Message) {
	if m.From() == r.rules.System {
		// A contract permits nothing: the runtime follows the escrow on chain.
		if err := r.verify(ctx, m); err != nil {
			r.report(m.Conversation(), fmt.Errorf("message of the home: %w", err))
			return
		}
		if contract, is := m.Payload().(*hire.Contract); is && r.settler != nil {
			r.settler.contract(contract)
		}
		r.observe(m)
		return
	}
	at := place{m.Conversation(), m.From()}
	r.track(ctx, at, func(t *tracked) { t.push(m) })
}

// track follows the conversation at a place from now on. It calls act before the conversation can end.
func (r *runtime) track(ctx context.Context, at place, act func(*tracked)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tracked[at]
	if t == nil {
		t = &tracked{place: at, runtime: r, changed: make(chan struct{}, 1)}
		t.conversation = t.empty()
		r.tracked[at] = t
		r.tasks.Go(func() { t.follow(ctx) })
	}
	if act != nil {
		act(t)
	}
}

// forget stops tracking a conversation, unless it has news.
func (r *runtime) forget(t *tracked) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.hasNews() {
		return false
	}
	delete(r.tracked, t.place)
	return true
}

func (r *runtime) observe(m *hire.Message) {
	if r.Observe != nil {
		r.Observe(m)
	}
}

// verify checks the signature.
func (r *runtime) verify(ctx context.Context, m *hire.Message) error {
	if m.From() == r.self {
		return m.Verify(r.public())
	}
	return r.Resolver.Verify(ctx, m)
}

// history returns a conversation's verified messages with their arrival times at the home.
func (r *runtime) history(ctx context.Context, at place) ([]hire.Arrival, error) {
	seeker := at.counterpart
	if r.role == hire.RoleSeeker {
		seeker = r.self
	}
	log, err := r.Home.Log(ctx, at.conversation, seeker)
	if refusal := new(hire.Refusal); errors.As(err, &refusal) && refusal.Reason == hire.ReasonParty {
		return nil, nil // the conversation has no messages yet
	}
	if err != nil {
		return nil, err
	}
	for _, arrival := range log.Arrivals {
		if err := r.verify(ctx, arrival.Message); err != nil {
			return nil, fmt.Errorf("log of the home: %w", err)
		}
	}
	return log.Arrivals, nil
}

// ended reports an ended deal.
func (r *runtime) ended(result Result) {
	r.Logger.Info("deal ended", "conversation", result.Conversation, "outcome", string(result.Outcome))
	if r.Ended != nil {
		r.Ended(result)
	}
	at := place{result.Conversation, result.Counterpart}
	r.mu.Lock()
	defer r.mu.Unlock()
	if result.Outcome == Abandoned {
		now := time.Now()
		maps.DeleteFunc(r.abandoned, func(_ place, a abandonment) bool { return now.Sub(a.at) > r.depositLimit() })
		r.abandoned[at] = abandonment{result.Deal, now}
	}
	for _, waiter := range r.waiting[at] {
		waiter <- result
	}
	delete(r.waiting, at)
}

// wasAbandoned reports whether the seeker's deal was reported as abandoned.
func (r *runtime) wasAbandoned(at place, number int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.role == hire.RoleSeeker && r.abandoned[at].deal == number
}

// depositLimit is the maximum agreement age for deposits by the seeker.
func (r *runtime) depositLimit() time.Duration { return r.Patience + createLimit }

// report logs a conversation's error and calls Failed.
func (r *runtime) report(conversation string, err error) {
	r.Logger.Warn("conversation: error", "conversation", conversation, "error", err)
	if r.Failed != nil {
		r.Failed(conversation, err)
	}
}

// pause waits, or until the context ends. It reports whether the time is over.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
