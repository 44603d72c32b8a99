// Package history lists the transactions of an address or of a program, as far back as the node has them. It
// is the list from which the subscriptions of the client begin.
package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// fullPage is the most transactions that a node lists in one request.
const fullPage = 1000

// Query selects transactions that mention an address.
type Query struct {
	// Address is the address; that of a program selects all of its transactions.
	Address solana.PublicKey
	// Before is the transaction of an earlier list after which this one continues, with its slot. If zero,
	// the list begins with the newest transaction.
	Before transaction.Listed
	// Until is the transaction before which the list ends. If zero, it ends with the oldest transaction that
	// the node has.
	Until solana.Signature
	// Commitment is the commitment of the listed transactions.
	Commitment rpc.CommitmentType
	// MinContextSlot is the slot that the node must have reached. A node that lags lists less.
	MinContextSlot uint64
	// PageSize is the number of transactions per request. If zero, 1,000 are requested, the most that nodes
	// allow.
	PageSize int
	// ShortPages makes the list end only with an empty page, for nodes that list less than requested. It
	// costs one more request. Otherwise a page that is not full is the last one.
	ShortPages bool
}

// Pages yields the transactions of a query, the newest first, in the pages in which the node lists them; none
// is empty. It holds one page in memory. It ends with the first error: [transaction.ErrBehind], [transaction.ErrChainChanged], or one
// of the client or the node. The pages before the error are valid.
func Pages(ctx context.Context, client *rpc.Client, query Query) iter.Seq2[[]transaction.Listed, error] {
	size := cmp.Or(query.PageSize, fullPage)
	return func(yield func([]transaction.Listed, error) bool) {
		last := query.Before
		for {
			page, err := nextPage(ctx, client, query, last, size)
			if err == nil && len(page) == 0 && !last.Signature.IsZero() {
				// A node lists nothing after a transaction that a fork has removed.
				err = checkListed(ctx, client, last, query.MinContextSlot)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(page) == 0 || !yield(page, nil) || len(page) < size && !query.ShortPages {
				return
			}
			last = page[len(page)-1]
		}
	}
}

func nextPage(
	ctx context.Context, client *rpc.Client, query Query, last transaction.Listed, size int,
) ([]transaction.Listed, error) {
	listed, err := client.GetSignaturesForAddressWithOpts(ctx, query.Address, &rpc.GetSignaturesForAddressOpts{
		Limit: &size, Before: last.Signature, Until: query.Until, Commitment: query.Commitment,
		MinContextSlot: &query.MinContextSlot,
	})
	var refused *transaction.NodeError
	if errors.As(err, &refused) && refused.Code == transaction.CodeMinContextSlotNotReached {
		return nil, fmt.Errorf("%w: %w", transaction.ErrBehind, err)
	}
	if err != nil {
		return nil, err
	}
	page := make([]transaction.Listed, len(listed))
	for i, item := range listed {
		if item == nil || item.Signature.IsZero() {
			return nil, rpcpool.Malformed("node listed a transaction without a signature")
		}
		if !last.Signature.IsZero() && item.Slot > last.Slot {
			return nil, rpcpool.Malformed("node listed slot %d after slot %d", item.Slot, last.Slot)
		}
		last = transaction.Listed{
			Signature: item.Signature, Slot: item.Slot, Index: item.TransactionIndex, Failed: item.Err != nil,
			Processed: item.ConfirmationStatus == rpc.ConfirmationStatusProcessed,
		}
		page[i] = last
	}
	return page, nil
}

// checkListed returns an error unless a node that has reached a slot still has the transaction in its slot.
func checkListed(ctx context.Context, client *rpc.Client, listed transaction.Listed, minSlot uint64) error {
	statuses, err := client.GetSignatureStatuses(ctx, true, listed.Signature)
	if err != nil && !errors.Is(err, rpc.ErrNotFound) {
		return err
	}
	if err == nil && statuses.Context.Slot < minSlot {
		return fmt.Errorf("status of slot %d instead of %d: %w", statuses.Context.Slot, minSlot, transaction.ErrBehind)
	}
	if err == nil && len(statuses.Value) == 1 && statuses.Value[0] != nil {
		status := statuses.Value[0]
		if status.Slot == listed.Slot && status.ConfirmationStatus != rpc.ConfirmationStatusProcessed {
			return nil
		}
	}
	return fmt.Errorf("transaction %s: %w", listed.Signature, transaction.ErrChainChanged)
}
