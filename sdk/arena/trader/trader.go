package trader

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/client"
)

// ErrLeft: the agent has left the market earlier and cannot return.
var ErrLeft = errors.New("trader: the agent has left the market")

// actWithin limits the time for the arena's reply to an action.
const actWithin = 10 * time.Second

// longestPause is the longest pause between connection attempts.
const longestPause = 30 * time.Second

// Trader runs an agent in a market. Run it once.
type Trader struct {
	config Config
	joined bool
}

// New returns a trader. It connects to nothing: see [Trader.Run].
func New(config Config) (*Trader, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Trader{config: config}, nil
}

// Run trades until the market is resolved; then it returns nil. If the context ends, it leaves the market,
// cancels tentative agreements, and returns the context's cause. It returns [client.ErrReplaced] if the agent
// has connected elsewhere, [ErrLeft], or a [*arena.Refusal] if the arena does not let the agent join. After
// other failures it connects again.
func (t *Trader) Run(ctx context.Context) error {
	pause := backoff.NewExponentialBackOff()
	pause.MaxInterval = longestPause
	for {
		began := time.Now()
		err := t.join(ctx)
		if err == nil {
			err = t.session(ctx)
		}
		refusal := new(arena.Refusal)
		switch {
		case err == nil, errors.Is(err, client.ErrReplaced), errors.Is(err, ErrLeft):
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &refusal):
			return err
		}
		if time.Since(began) > longestPause {
			pause.Reset()
		}
		wait := pause.NextBackOff()
		t.config.Logger.WarnContext(ctx, "arena: connection ended", "error", err, "next attempt in", wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// session is one connection. The desk is confined to the session's goroutine.
type session struct {
	*Trader
	client *client.Client
	desk   *desk
	// latest is the number of the latest event of the desk.
	latest uint64
	// done receives functions that carry decisions out.
	done chan func(context.Context) error
	// deciding maps topics to running decisions.
	deciding map[topic]context.CancelFunc
	// inviting reports whether the desk lacks the chat for an accepted invitation.
	inviting bool
	// turns maps side chats to the ends of the trader's current turns.
	turns map[int]time.Time
	// verdicts are those about tentative agreements.
	verdicts map[int]Verdict
}

// topic is what a decision is about.
type topic struct {
	kind   string
	number int
}

// session connects, and trades until the connection or the market ends.
func (t *Trader) session(ctx context.Context) error {
	c, err := t.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	deciding, cancel := context.WithCancel(ctx)
	defer cancel()
	standing := c.Standing()
	s := &session{
		Trader: t, client: c, desk: newDesk(t.self(), t.config.Limits, standing), latest: standing.Shown,
		done: make(chan func(context.Context) error), deciding: map[topic]context.CancelFunc{},
		turns: map[int]time.Time{}, verdicts: map[int]Verdict{},
	}
	if err := s.enter(ctx, standing); err != nil {
		return err
	}
	return s.run(ctx, deciding)
}

func (t *Trader) self() string { return arena.AddressOf(t.config.Key) }

// join joins the market, unless the agent already joined, and ends that connection: agents receive events
// only once they have joined, so the standing would lack events that occurred before joining.
func (t *Trader) join(ctx context.Context) error {
	if t.joined {
		return nil
	}
	c, err := t.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	s := &session{Trader: t, client: c}
	if c.Standing().Review == nil {
		err = s.do(ctx, arena.Join{Name: t.config.Name})
	}
	t.joined = err == nil
	return err
}

func (t *Trader) dial(ctx context.Context) (*client.Client, error) {
	return client.Dial(ctx, client.Config{URL: t.config.URL, Key: t.config.Key, Operator: t.config.Operator})
}

// enter returns to the floor.
func (s *session) enter(ctx context.Context, standing arena.Standing) error {
	own, _ := standing.View.Agent(s.desk.Self)
	switch own.Availability {
	case arena.AvailabilityLeft:
		return ErrLeft
	case arena.AvailabilityUnresponsive:
		return s.do(ctx, arena.Connect{})
	}
	return nil
}

// run follows the events until the end.
func (s *session) run(ctx, deciding context.Context) error {
	events, failed, more := make(chan arena.Shown), make(chan error, 1), make(chan struct{})
	// The end of ctx is not the end of the connection: the trader leaves first.
	connected, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		for {
			event, err := s.client.Next(connected)
			if err != nil {
				failed <- err
				return
			}
			select {
			case events <- event:
			case <-connected.Done():
				return
			}
			// This event must be observed before the next event counts as seen.
			select {
			case <-more:
			case <-connected.Done():
				return
			}
		}
	}()
	s.state(deciding)
	for _, invitation := range s.client.Standing().Invitations {
		s.admit(deciding, invitation)
	}
	if err := s.settle(deciding); err != nil { // what an earlier connection has left
		return err
	}
	look := time.NewTicker(s.config.Every)
	defer look.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), s.end(ctx))
		case err = <-failed:
		case event := <-events:
			err = s.observe(deciding, event)
			select {
			case more <- struct{}{}:
			case err2 := <-failed:
				err = errors.Join(err, err2)
			}
		case act := <-s.done:
			err = act(ctx)
		case <-look.C:
			s.state(deciding)
			s.invite(deciding)
		}
		if err != nil || s.desk.View.Phase == arena.PhaseResolved {
			return err
		}
	}
}

// end cancels the tentative agreements and leaves the market, so other agents need not wait.
func (s *session) end(ctx context.Context) error {
	for _, pending := range s.desk.Pending {
		if err := s.do(ctx, arena.Cancel{Agreement: pending.Number}); err != nil {
			return err
		}
	}
	return s.do(ctx, arena.Leave{})
}

// do sends an action. Refusals are logged, not returned: the desk follows from the events alone.
func (s *session) do(ctx context.Context, action arena.Action) error {
	_, _, err := s.try(ctx, action)
	return err
}

// try sends an action, and reports whether the arena has accepted it, and when.
func (s *session) try(ctx context.Context, action arena.Action) (at time.Time, accepted bool, err error) {
	// The connection must outlive ctx until the trader has left.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), actWithin)
	defer cancel()
	receipt, err := s.client.Do(ctx, action)
	refusal := new(arena.Refusal)
	switch {
	case errors.As(err, &refusal) && action.Kind() != arena.Join{}.Kind():
		s.config.Logger.DebugContext(ctx, "arena: action refused", "action", action.Kind(), "code", refusal.Code,
			"reason", refusal.Text)
		return at, false, nil
	case err != nil:
		return at, false, fmt.Errorf("%s: %w", action.Kind(), err)
	}
	if s.config.Acted != nil {
		s.config.Acted(action, receipt)
	}
	return receipt.At, true, nil
}
