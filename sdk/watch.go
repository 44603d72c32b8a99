package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/feed"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ErrClientClosed: the client has been closed, and its subscriptions with it.
var ErrClientClosed = feed.ErrClosed

// EventEnvelope is an event with the transaction that it is from.
type EventEnvelope struct {
	// Signature is the signature of the transaction.
	Signature solana.Signature
	// Slot is the slot of the transaction.
	Slot uint64
	// Negotiation is the address of the event's negotiation; zero only if Truncated.
	Negotiation solana.PublicKey
	// Event is the event: an *OfferSubmitted, a *NegotiationSettled and so on. It is nil if Truncated.
	Event protocol.Event
	// Truncated reports that the transaction's logs are cut off, or contain data that this version cannot
	// decode, so there may be further events. [Negotiation.Snapshot] reads the current state.
	Truncated bool
	// Late reports that the node listed the transaction only after a later event of the same negotiation had
	// been delivered. This is the only case in which events are delivered out of order; [Client.History] has
	// them in order.
	Late bool
}

// WatchOption sets where a subscription begins. By default it begins now.
type WatchOption func(*watchStart)

type watchStart struct {
	beginning bool
	after     solana.Signature
}

// FromBeginning makes a subscription deliver all events of the negotiation, or of the agent's negotiations,
// as far back as the node has them.
func FromBeginning() WatchOption {
	return func(start *watchStart) { start.beginning = true }
}

// After makes a subscription continue after the transaction with this signature, for example the last one
// that an agent had handled before a restart. For Watch the transaction must mention the negotiation.
func After(signature solana.Signature) WatchOption {
	return func(start *watchStart) { start.after = signature }
}

// Watch subscribes to the events of a negotiation, each delivered once, ordered by slot and within a block by
// transaction. (The documents call it onNegotiationEvent.) When it returns, no later event is missed: a
// dropped connection is opened again, and the events of the meantime and those that the connection has
// dropped are fetched. It delivers the same events as [Client.History].
//
// Some nodes drop notifications without an error. Every 20 seconds, and 5 milliseconds for each address, the
// client therefore compares the accounts with their last known state, a hundred in one request. Each time it
// also lists the addresses that have no account, before the creation or after the closing, with one request
// for each, at most twenty a second. Close the subscription to stop these requests.
//
// All subscriptions of a client share one connection. A listener that does not receive delays only its own
// subscription, and loses nothing: beyond 64 buffered events, the next ones stay at the node until there is
// room. [Subscription.Lag] reports the delay.
//
// The context and Close both end the subscription. The error is that of the first attempt to connect.
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

// WatchAgent subscribes to the events of all negotiations of which an agent is a party, including later ones:
// each event once, and those of a negotiation in their order. Otherwise it works as Watch does. With After it
// delivers the events of the negotiations that are still open, and of those created since.
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
