package haggle

import (
	"cmp"
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

// ListTransactionsOptions selects the transactions that [ListTransactions] lists. The zero value selects all
// finalized transactions.
type ListTransactionsOptions struct {
	// Before is the last transaction of an earlier page. The list continues after it. If zero, the list begins
	// with the newest transaction.
	Before transaction.Listed
	// Until ends the list: Until itself is not listed. If zero, the list ends with the oldest transaction that the
	// node returns.
	Until solana.Signature
	// Commitment is the listed transactions' commitment. If empty, finalized is used.
	Commitment rpc.CommitmentType
	// MinSlot is the slot that the node must have reached; otherwise the list ends with [transaction.ErrBehind]. If
	// zero, a lagging node can list fewer transactions.
	MinSlot uint64
}

// ListTransactions yields the transactions of the program, the newest first, as far back as the node returns
// them: for programs that keep their own record. The node determines the pages; none is empty.
//
// It ends with the first error: [transaction.ErrBehind], [transaction.ErrChainChanged], or an error of the
// node. The pages before the error are valid.
func ListTransactions(
	ctx context.Context, node *rpc.Client, options ListTransactionsOptions,
) iter.Seq2[[]transaction.Listed, error] {
	return history.Pages(ctx, node, history.Query{
		Address: protocol.ProgramID, Before: options.Before, Until: options.Until,
		Commitment:     cmp.Or(options.Commitment, rpc.CommitmentFinalized),
		MinContextSlot: options.MinSlot, ShortPages: true,
	})
}
