package haggle

import (
	"context"
	"errors"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/feed"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// ErrHistoryTooLong: there are more new transactions for an address than the client fetches.
var ErrHistoryTooLong = feed.ErrTooLong

// sharedFeed returns the feed of the client's subscriptions.
func (c *Client) sharedFeed() *feed.Feed {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.feed == nil {
		source := c.source
		if source == nil {
			source = feed.NewWebSockets(append([]string{c.wsEndpoint}, c.wsFallbacks...), c.dial)
		}
		c.feed = feed.New(feed.Options{
			RPC: c.rpc, Program: protocol.ProgramID, Commitment: c.commitment, Source: source, Logger: c.logger,
			Transaction: c.executedOrNil, Decode: decodeEvents, Accounts: c.negotiationsOf,
		})
	}
	return c.feed
}

// executedOrNil returns an executed transaction; nil if no node returns it.
func (c *Client) executedOrNil(
	ctx context.Context, signature solana.Signature, wait bool,
) (*rpc.GetTransactionResult, error) {
	if !wait {
		return send.LookUp(ctx, c.rpc, signature, c.commitment)
	}
	details, err := send.Executed(ctx, c.rpc, signature, c.commitment, send.DetailsLimit)
	if errors.Is(err, transaction.ErrNotFound) {
		return nil, nil
	}
	return details, err
}

// decodeEvents returns the program's events in a transaction.
func decodeEvents(details *rpc.GetTransactionResult) (events []feed.Event, truncated bool) {
	parsed, err := protocol.ParseLogs(details.Meta.LogMessages)
	for _, event := range parsed {
		decoded := feed.Event{Value: event}
		decoded.Account, _ = event.NegotiationAddress()
		switch event := event.(type) {
		case *protocol.NegotiationCreated:
			decoded.Creates = []solana.PublicKey{event.Buyer, event.Seller}
		case *protocol.NegotiationClosed:
			decoded.Closes = true
		}
		events = append(events, decoded)
	}
	return events, err != nil && mentionsProgram(details)
}

// negotiationsOf returns an agent's negotiations.
func (c *Client) negotiationsOf(ctx context.Context, agent solana.PublicKey) ([]solana.PublicKey, error) {
	var found []solana.PublicKey
	for negotiation, err := range c.FindNegotiations(ctx, Filter{Party: agent}) {
		var undecodable *protocol.DecodeError
		if errors.As(err, &undecodable) {
			continue // a later version's
		}
		if err != nil {
			return nil, err
		}
		found = append(found, negotiation.Address)
	}
	return found, nil
}

func envelopeOf(delivery feed.Delivery) EventEnvelope {
	event, _ := delivery.Event.(protocol.Event)
	return EventEnvelope{Signature: delivery.Signature, Slot: delivery.Slot, Negotiation: delivery.Account,
		Event: event, Truncated: delivery.Truncated, Late: delivery.Late}
}
