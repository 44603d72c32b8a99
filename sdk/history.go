package haggle

import (
	"context"
	"errors"
	"iter"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// History yields every event of a negotiation that the node still has, the oldest first, also of a closed
// negotiation. It ends with the first error, for example [ErrHistoryTooLong]. Events that occur during the
// call may be missing: see Watch with [FromBeginning].
//
//	for envelope, err := range client.History(ctx, negotiation) {
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
			envelopes, err := c.envelopesOf(ctx, negotiation, item)
			if err != nil {
				yield(EventEnvelope{}, err)
				return
			}
			for _, envelope := range envelopes {
				if !yield(envelope, nil) {
					return
				}
			}
		}
	}
}

// envelopesOf returns the events that one transaction has of a negotiation.
func (c *Client) envelopesOf(
	ctx context.Context, negotiation solana.PublicKey, item entry,
) ([]EventEnvelope, error) {
	truncated := EventEnvelope{Signature: item.signature, Slot: item.slot, Negotiation: negotiation,
		Truncated: true}
	details, err := c.executed(ctx, item.signature, detailsLimit)
	if errors.Is(err, errNoDetails) {
		return []EventEnvelope{truncated}, nil
	}
	if err != nil {
		return nil, err
	}
	if details.Meta.Err != nil {
		return nil, nil
	}
	var envelopes []EventEnvelope
	events, failed := protocol.ParseLogs(details.Meta.LogMessages)
	for _, event := range events {
		if about, ok := event.NegotiationAddress(); ok && about == negotiation {
			envelopes = append(envelopes,
				EventEnvelope{Signature: item.signature, Slot: item.slot, Negotiation: negotiation,
					Event: event})
		}
	}
	if failed != nil && mentionsProgram(details) {
		envelopes = append(envelopes, truncated)
	}
	return envelopes, nil
}
