package haggle

import (
	"context"
	"errors"
	"sync"

	"github.com/gagliardetto/solana-go"
)

// ErrClientClosed: the client has been closed, and its subscriptions with it.
var ErrClientClosed = errors.New("haggle: the client is closed")

// Observation is an event that a subscription has seen.
type Observation struct {
	// Signature is the transaction's that the event is from.
	Signature solana.Signature
	// Slot is when it was executed.
	Slot uint64
	// Negotiation is the address that the event is about; zero only if Truncated.
	Negotiation solana.PublicKey
	// Event is what has happened: an *OfferSubmitted, a *NegotiationSettled and so on. It is nil if Truncated.
	Event Event
	// Truncated says that the transaction's logs have been cut off, or hold what this version does not understand, so that more may
	// have happened than can be told. What is true now can be read with [Client.GetNegotiation].
	Truncated bool
}

// WatchOption says where a subscription begins, instead of now.
type WatchOption func(*watchStart)

type watchStart struct {
	beginning bool
	after     solana.Signature
}

// FromBeginning has a subscription tell everything that has ever happened to the negotiation, or to the agent's negotiations, as
// far back as the node remembers.
func FromBeginning() WatchOption {
	return func(start *watchStart) { start.beginning = true }
}

// After has a subscription go on after the transaction with this signature, for example the last one that an agent has handled
// before it was restarted. For Watch it is one that mentions the negotiation.
func After(signature solana.Signature) WatchOption {
	return func(start *watchStart) { start.after = signature }
}

// Watch subscribes to the events of a negotiation, each once and in their order. (The documents call it onNegotiationEvent.) When
// it returns, nothing that happens from then on is missed: a dropped connection is made again, and what happened meanwhile is
// fetched.
//
// The context and Close both end the subscription. The error is that of the first attempt to connect.
//
//	subscription, err := client.Watch(ctx, negotiation)
//	...
//	defer subscription.Close()
//	for seen := range subscription.Events() {
func (c *Client) Watch(ctx context.Context, negotiation solana.PublicKey, options ...WatchOption) (*Subscription, error) {
	return c.watch(ctx, &watcher{client: c, start: startOf(options), fixed: negotiation})
}

// WatchAgent subscribes to the events of all negotiations that an agent is a party of, also of those that are created later: each
// event once, and those of a negotiation in their order. For the rest it is as Watch. With After it tells what happened to the
// negotiations that are still open, and to those created since.
func (c *Client) WatchAgent(ctx context.Context, agent solana.PublicKey, options ...WatchOption) (*Subscription, error) {
	return c.watch(ctx, &watcher{client: c, start: startOf(options), agent: agent})
}

func startOf(options []WatchOption) (start watchStart) {
	for _, option := range options {
		option(&start)
	}
	return start
}

func (c *Client) watch(ctx context.Context, w *watcher) (*Subscription, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.closing, func() { cancel(ErrClientClosed) })
	w.subscription = &Subscription{events: make(chan Observation, eventBuffer), done: make(chan struct{}), cancel: cancel}
	connected := make(chan error, 1)
	ended := func() {
		stop()
		cancel(errSubscriptionClosed)
	}
	if !c.start(func() {
		defer ended()
		w.run(ctx, connected)
	}) {
		ended()
		return nil, ErrClientClosed
	}
	if err := <-connected; err != nil {
		<-w.subscription.done
		return nil, err
	}
	return w.subscription, nil
}

// start runs something that Close waits for; false if the client is closed.
func (c *Client) start(run func()) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closing.Err() != nil {
		return false
	}
	c.running.Go(run)
	return true
}

// eventBuffer lets a listener fall a little behind without holding up the connection.
const eventBuffer = 64

var errSubscriptionClosed = errors.New("haggle: the subscription is closed")

// Subscription delivers events until it is closed, its context or its client ends, or it fails for good.
type Subscription struct {
	events chan Observation
	done   chan struct{}
	cancel context.CancelCauseFunc
	lock   sync.Mutex
	err    error
}

// Events are what has been seen. The channel is closed at the end of the subscription.
func (s *Subscription) Events() <-chan Observation { return s.events }

// Err says why the subscription has ended: nil while it has not, and after Close.
func (s *Subscription) Err() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.err
}

// Close ends the subscription and returns when nothing of it runs any more. (The documents call it removeEventListener.) Events that
// nobody has received yet are lost. Calling it again does nothing.
func (s *Subscription) Close() {
	s.cancel(errSubscriptionClosed)
	<-s.done
}

func (s *Subscription) end(err error) {
	if !errors.Is(err, errSubscriptionClosed) {
		s.lock.Lock()
		s.err = err
		s.lock.Unlock()
	}
	close(s.events)
	close(s.done)
}
