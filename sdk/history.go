package haggle

import (
	"context"
	"iter"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/history"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// History yields every event of a negotiation, as far back as the node still returns them, the oldest first.
// The negotiation may be closed. It ends with the first error, for example [ErrHistoryTooLong]. Events that
// occur during the call may be missing: see Watch with [FromBeginning].
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

// ListTransactions yields the transactions of the program, the newest first, as far back as the node returns
// them: for programs that keep their own record. The node determines the pages; none is empty. The list
// continues after the transaction before, the last of an earlier page, or begins with the newest transaction
// if before is zero. It ends before the transaction until, if until is set. minSlot is the slot that the node
// must have reached; a node that lags lists less.
//
// It ends with the first error: [transaction.ErrBehind], [transaction.ErrChainChanged], or an error of the
// node. The pages before the error are valid.
func ListTransactions(
	ctx context.Context, node *rpc.Client, before transaction.Listed, until solana.Signature,
	commitment rpc.CommitmentType, minSlot uint64,
) iter.Seq2[[]transaction.Listed, error] {
	return history.Pages(ctx, node, history.Query{
		Address: protocol.ProgramID, Before: before, Until: until, Commitment: commitment, MinContextSlot: minSlot,
		ShortPages: true,
	})
}
