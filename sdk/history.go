package haggle

import (
	"context"
	"iter"

	"github.com/gagliardetto/solana-go"
)

// History yields every event of a negotiation that the node still has, the oldest first, also of a closed
// negotiation. It ends with the first error, for example [ErrHistoryTooLong]. Events that occur during the
// call may be missing: see Watch with [FromBeginning].
//
//	for envelope, err := range client.History(ctx, negotiation) {
func (c *Client) History(ctx context.Context, negotiation solana.PublicKey) iter.Seq2[EventEnvelope, error] {
	return func(yield func(EventEnvelope, error) bool) {
		for delivery, err := range c.sharedFeed().History(ctx, negotiation) {
			if !yield(envelopeOf(delivery), err) {
				return
			}
		}
	}
}
