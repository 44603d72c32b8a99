package party

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

// tracked is a conversation that the runtime follows. The conversation is confined to one goroutine.
type tracked struct {
	place
	runtime      *runtime
	conversation conversation
	// loaded reports whether the conversation includes the home's log.
	loaded bool
	// reported is the number of the last deal reported as ended, and agreed counts the agreements passed on.
	reported, agreed int
	changed          chan struct{}

	mu    sync.Mutex
	queue []*hire.Message
	// request is the agent's own proposal; nil if none is pending.
	request *Request
}

func (t *tracked) empty() conversation {
	return conversation{
		id: t.place.conversation, counterpart: t.counterpart, role: t.runtime.role, rules: t.runtime.rules,
		assets: t.runtime.Assets,
	}
}

// push queues m.
func (t *tracked) push(m *hire.Message) {
	t.mu.Lock()
	t.queue = append(t.queue, m)
	t.mu.Unlock()
	t.wake()
}

func (t *tracked) wake() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

func (t *tracked) pop() *hire.Message {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		return nil
	}
	first := t.queue[0]
	t.queue = t.queue[1:]
	return first
}

// hasNews reports whether messages or a request are pending.
func (t *tracked) hasNews() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.queue) > 0 || t.request != nil
}

// Pauses between attempts to reach the home.
const (
	firstPause = 200 * time.Millisecond
	lastPause  = 15 * time.Second
)

// follow runs the conversation until nothing is left to do.
func (t *tracked) follow(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; {
		over, err := t.step(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			t.runtime.report(t.place.conversation, err)
			t.loaded = false
			pause(ctx, min(firstPause<<min(failures, 10), lastPause))
			failures++
		case over && t.runtime.forget(t):
			return
		default:
			failures = 0
		}
	}
}

// step processes queued messages, then answers or waits. over reports whether nothing is left to do.
func (t *tracked) step(ctx context.Context) (over bool, err error) {
	select {
	case <-t.changed: // the queue shows the change
	default:
	}
	for m := t.pop(); m != nil; m = t.pop() {
		if err := t.receive(ctx, m); err != nil {
			return false, err
		}
	}
	if !t.loaded {
		if err := t.load(ctx); err != nil {
			return false, err
		}
	}
	now := time.Now()
	if err := t.begin(ctx, now); err != nil {
		return false, err
	}
	c := &t.conversation
	if c.isMine(now) {
		return false, t.answer(ctx)
	}
	if t.settle(ctx, now) {
		return true, nil
	}
	var due <-chan time.Time
	until := c.state.Due
	if c.awaitsCapability() {
		until = c.rules.CapabilityDue(c.state.At)
	}
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until) + time.Millisecond)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-t.changed:
	case <-due:
	case <-ctx.Done():
	}
	return false, nil
}

// receive adds a streamed message.
func (t *tracked) receive(ctx context.Context, m *hire.Message) error {
	if err := t.runtime.verify(ctx, m); err != nil {
		return fmt.Errorf("message of the home: %w", err)
	}
	t.runtime.observe(m)
	// Only a first message replies to nothing.
	if !t.loaded && m.InReplyTo() == "" {
		t.loaded = true
	}
	if !t.loaded {
		return nil // load will read it
	}
	if err := t.conversation.apply(m, time.Now()); err != nil {
		t.loaded = false // load will read it, with everything before
	}
	return nil
}

// load replaces the conversation by the home's log.
func (t *tracked) load(ctx context.Context) error {
	arrivals, err := t.runtime.history(ctx, t.place)
	if err != nil {
		return err
	}
	fresh := t.empty()
	for _, arrival := range arrivals {
		if err := fresh.apply(arrival.Message, arrival.At); err != nil {
			return fmt.Errorf("log of the home: %w", err)
		}
	}
	t.conversation, t.loaded = fresh, true
	return nil
}

var errLate = errors.New("party: the home shows an acceptance of a deal that had been abandoned: ignored")

// settle forwards agreements to the settler and reports ends. It reports whether nothing is left to do.
func (t *tracked) settle(ctx context.Context, now time.Time) (over bool) {
	c, r := &t.conversation, t.runtime
	for ; t.agreed < len(c.deals); t.agreed++ {
		d := c.deals[t.agreed]
		if r.wasAbandoned(t.place, d.state.Deal) {
			// The home sets arrival times, so it can backdate a late acceptance. By now the seeker may have
			// bought the same elsewhere.
			r.report(c.id, errLate)
			continue
		}
		r.agreed(ctx, t.contractOf(d), d)
	}
	result := Result{Contract: Contract{Conversation: c.id, Counterpart: c.counterpart, Deal: c.state.Deal}}
	switch c.phase(now) {
	case hire.PhaseNegotiating:
		return false
	case hire.PhaseContracted:
		return c.isComplete()
	case hire.PhaseDeclined:
		reject, is := c.latest.Payload().(*hire.Reject)
		if !is {
			return true // an inquiry about the next deal
		}
		result.Outcome, result.Code, result.By = Declined, reject.Code, c.sideOf(c.latest)
	case hire.PhaseIdle:
		if c.state.Deal == 0 {
			return c.role == hire.RoleWorker || c.latest == nil // a seeker waits for the capability
		}
		result.Outcome, result.Err = Abandoned, c.withheld
	}
	if t.reported < c.state.Deal {
		t.reported = c.state.Deal
		r.ended(result)
	}
	return true
}

func (t *tracked) contractOf(d deal) Contract {
	return Contract{
		Conversation: t.place.conversation, Counterpart: t.counterpart, Deal: d.state.Deal, Terms: d.state.Terms,
		Asset: d.asset, Price: d.offer.Price, Deadline: d.offer.Deadline, Text: d.text,
	}
}

// send signs a payload, sends it, and adds it to the conversation.
func (t *tracked) send(ctx context.Context, payload hire.Payload) error {
	c, r := &t.conversation, t.runtime
	// The counterpart's clock may be ahead, but timestamps must not decrease.
	at := time.Now()
	if at.Before(c.state.At) {
		at = c.state.At
	}
	m, err := hire.Sign(r.Home.Key, hire.Draft{
		From: r.self, To: t.counterpart, At: at, Conversation: t.place.conversation, Payload: payload,
	})
	if err != nil {
		return err
	}
	limit := time.Now().Add(sendLimit)
	if due := c.state.Due; !due.IsZero() && due.Before(limit) {
		limit = due
	}
	sending, cancel := context.WithDeadline(ctx, limit)
	defer cancel()
	err = r.Home.Send(sending, m)
	if err == nil {
		r.observe(m)
		return c.apply(m, time.Now())
	}
	t.loaded = false
	// A concurrent message changed the state: load will read it.
	if refusal := new(hire.Refusal); errors.As(err, &refusal) &&
		(refusal.Reason == hire.ReasonOrder || refusal.Reason == hire.ReasonState || refusal.Reason == hire.ReasonTerms) {
		return nil
	}
	return fmt.Errorf("%s: %w", payload.Type(), err)
}

// sendLimit bounds delivery time. Afterwards the home refuses the timestamp.
const sendLimit = 25 * time.Second
