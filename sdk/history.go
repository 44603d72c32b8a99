package haggle

import (
	"context"
	"errors"
	"iter"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// History yields every event of a negotiation that the node remembers, the oldest first, also of one that has been closed. It ends
// with the first error; [ErrHistoryTooLong] is one. What happens meanwhile may not be in it: see Watch with [FromBeginning].
//
//	for seen, err := range client.History(ctx, negotiation) {
func (c *Client) History(ctx context.Context, negotiation solana.PublicKey) iter.Seq2[EventEnvelope, error] {
	return func(yield func(EventEnvelope, error) bool) {
		entries, err := c.since(ctx, negotiation, position{}, 0)
		if err != nil {
			yield(EventEnvelope{}, err)
			return
		}
		for _, item := range entries {
			if item.failed {
				continue
			}
			observations, err := c.observe(ctx, negotiation, item)
			if err != nil {
				yield(EventEnvelope{}, err)
				return
			}
			for _, seen := range observations {
				if !yield(seen, nil) {
					return
				}
			}
		}
	}
}

// observe fetches what one transaction has to tell of a negotiation.
func (c *Client) observe(ctx context.Context, negotiation solana.PublicKey, item entry) ([]EventEnvelope, error) {
	unclear := EventEnvelope{Signature: item.signature, Slot: item.slot, Negotiation: negotiation, Truncated: true}
	details, err := c.executed(ctx, item.signature, detailsLimit)
	if errors.Is(err, errNoDetails) {
		return []EventEnvelope{unclear}, nil
	}
	if err != nil {
		return nil, err
	}
	if details.Meta.Err != nil {
		return nil, nil
	}
	var observations []EventEnvelope
	events, failed := protocol.ParseLogs(details.Meta.LogMessages)
	for _, event := range events {
		if about, ok := event.NegotiationAddress(); ok && about == negotiation {
			observations = append(observations, EventEnvelope{Signature: item.signature, Slot: item.slot, Negotiation: negotiation, Event: event})
		}
	}
	if failed != nil && mentionsProgram(details) {
		observations = append(observations, unclear)
	}
	return observations, nil
}
