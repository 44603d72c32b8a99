package haggle

import (
	"context"
	"errors"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ErrClientClosed: the client has been closed, and its subscriptions with it.
var ErrClientClosed = errors.New("haggle: the client is closed")

// EventEnvelope is an event that a subscription has seen.
type EventEnvelope struct {
	// Signature is the transaction's that the event is from.
	Signature solana.Signature
	// Slot is when it was executed.
	Slot uint64
	// Negotiation is the address that the event is about; zero only if Truncated.
	Negotiation solana.PublicKey
	// Event is what has happened: an *OfferSubmitted, a *NegotiationSettled and so on. It is nil if Truncated.
	Event protocol.Event
	// Truncated says that the transaction's logs have been cut off, or hold what this version does not understand, so that more may
	// have happened than can be told. What is true now can be read with [Negotiation.Snapshot].
	Truncated bool
	// Late says that the node has listed the transaction only after something later of the same negotiation had been told. It is the
	// one case in which events are not told in their order; [Client.History] has it.
	Late bool
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

// Watch subscribes to the events of a negotiation, each once and in their order: that of slots, and within a block that of
// transactions. (The documents call it onNegotiationEvent.) When it returns, nothing that happens from then on is missed: a dropped
// connection is made again, what happened meanwhile is fetched, and so is what the connection has kept to itself. What is told is
// what [Client.History] has.
//
// All subscriptions of a client share one connection. A listener that does not receive holds up its own subscription only, and loses
// nothing: beyond [EventsHeld] events, what has happened stays at the node until there is room. [Subscription.Lag] says how far behind
// it is.
//
// The context and Close both end the subscription. The error is that of the first attempt to connect.
//
//	subscription, err := client.Watch(ctx, negotiation)
//	...
//	defer subscription.Close()
//	for seen := range subscription.Events() {
func (c *Client) Watch(ctx context.Context, negotiation solana.PublicKey, options ...WatchOption) (*Subscription, error) {
	return c.watch(ctx, &watcher{client: c, start: startOf(options), retry: newReconnection(), fixed: negotiation})
}

// WatchAgent subscribes to the events of all negotiations that an agent is a party of, also of those that are created later: each
// event once, and those of a negotiation in their order. For the rest it is as Watch. With After it tells what happened to the
// negotiations that are still open, and to those created since.
//
// Anyone can have transactions mention an agent that do not concern it. Those that the connection tells of cost nothing more; what
// else is listed at its address is fetched at a bounded rate, and holds up no negotiation that is known.
func (c *Client) WatchAgent(ctx context.Context, agent solana.PublicKey, options ...WatchOption) (*Subscription, error) {
	return c.watch(ctx, &watcher{client: c, start: startOf(options), retry: newReconnection(), agent: agent})
}

func startOf(options []WatchOption) (start watchStart) {
	for _, option := range options {
		option(&start)
	}
	return start
}

func (c *Client) watch(ctx context.Context, w *watcher) (*Subscription, error) {
	w.stream = c.join()
	w.backlog.client = c
	subscription, err := newSubscription(ctx, w)
	if err != nil {
		return nil, err
	}
	// Until everything is set up no worker may come near it, and its end waits.
	w.scheduled = true
	err = context.Cause(subscription.ctx)
	if subscription.enter() {
		err = w.begin(subscription.ctx)
		subscription.running.Done()
	}
	if err != nil {
		subscription.cancel(errSubscriptionClosed)
		<-subscription.done
		return nil, err
	}
	w.stream.schedule(w)
	return subscription, nil
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
