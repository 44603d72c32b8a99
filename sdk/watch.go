package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/feed"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ErrClientClosed: the client and all subscriptions are closed.
var ErrClientClosed = feed.ErrClosed

// EventEnvelope is an event with the transaction that emitted it.
type EventEnvelope struct {
	// Signature is the signature of the transaction.
	Signature solana.Signature
	// Slot is the slot of the transaction.
	Slot uint64
	// Negotiation is the address of the event's negotiation; zero only if Truncated.
	Negotiation solana.PublicKey
	// Event is the event: an *OfferSubmitted, a *NegotiationSettled etc. It is nil if Truncated.
	Event protocol.Event
	// Truncated reports that the transaction's logs are cut off, or contain data that this version cannot
	// decode, so there may be further events. [Negotiation.Snapshot] reads the current state.
	Truncated bool
	// Late reports whether the node listed the transaction only after a later event of the same negotiation
	// had been delivered. This is the only case of out-of-order delivery; [Client.History] returns the events
	// in order.
	Late bool
}

// WatchOption sets where a subscription begins. By default it begins now.
type WatchOption func(*watchStart)

type watchStart struct {
	beginning bool
	after     solana.Signature
}

// FromBeginning makes a subscription deliver all events of the negotiation, or of the agent's negotiations,
// as far back as the node returns them.
func FromBeginning() WatchOption {
	return func(start *watchStart) { start.beginning = true }
}

// After makes a subscription continue after the given transaction, for example the last transaction that an
// agent handled before restarting. For Watch the transaction must mention the negotiation.
func After(signature solana.Signature) WatchOption {
	return func(start *watchStart) { start.after = signature }
}

// Watch subscribes to a negotiation's events, each delivered once, ordered by slot and within a block by
// transaction. (The documents call it onNegotiationEvent.) When it returns, no later event is missed: a
// dropped connection is opened again, and the events missed meanwhile or dropped by the connection are
// fetched. It delivers the same events as [Client.History].
//
// Some nodes drop notifications without an error. Every 20 seconds, and 5 milliseconds for each address, the
// client therefore compares the accounts with their last known state, a hundred per request. Each time it
// also lists the addresses without an account, before the creation or after the closing, with a request for
// each, up to twenty a second. Close the subscription to stop these requests.
//
// All subscriptions of the client share one connection. A listener that does not receive delays that
// subscription alone, and loses nothing: beyond 64 buffered events, the next ones stay at the node until
// there is room. [Subscription.Lag] reports the delay.
//
// The context and Close both end the subscription. Watch returns the error of the first attempt to connect.
//
//	subscription, err := client.Watch(ctx, negotiation)
//	...
//	defer subscription.Close()
//	for envelope := range subscription.Events() {
func (c *Client) Watch(
	ctx context.Context, negotiation solana.PublicKey, options ...WatchOption,
) (*Subscription, error) {
	return c.watch(ctx, feed.Watch{Account: negotiation}, options)
}

// WatchAgent subscribes to the events of all negotiations that an agent takes part in, including later ones:
// each event once, and in order per negotiation. Otherwise it works as Watch does. With After it delivers the
// events of the negotiations that are still open or were created since.
//
// Anyone can send transactions that mention an agent and do not concern it. Those that the connection reports
// as unrelated are not fetched. Other ones that are listed at the agent's address are fetched at a bounded
// rate, and delay no known negotiation.
func (c *Client) WatchAgent(
	ctx context.Context, agent solana.PublicKey, options ...WatchOption,
) (*Subscription, error) {
	return c.watch(ctx, feed.Watch{Wallet: agent}, options)
}

func (c *Client) watch(ctx context.Context, w feed.Watch, options []WatchOption) (*Subscription, error) {
	var start watchStart
	for _, option := range options {
		option(&start)
	}
	s := &Subscription{events: make(chan EventEnvelope)}
	w.Beginning, w.After, w.Deliver, w.Ended = start.beginning, start.after, s.deliver, func() { close(s.events) }
	var err error
	if s.feed, err = c.sharedFeed().Watch(ctx, w); err != nil {
		return nil, err
	}
	return s, nil
}
