// Package history lists the transactions of an address or a program, as far back as the node returns them.
// The client's subscriptions begin from this list.
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

// fullPage limits the transactions that a node lists per request.
const fullPage = 1000

// Query selects transactions that mention an address.
type Query struct {
	// Address selects the transactions; a program's address selects all of the program's transactions.
	Address solana.PublicKey
	// Before is a transaction of an earlier list, including the slot. The list continues after it. If zero,
	// the list begins with the newest transaction.
	Before transaction.Listed
	// Until ends the list: Until itself is not listed. If zero, the list ends with the oldest transaction
	// that the node returns.
	Until solana.Signature
	// Commitment is the listed transactions' commitment.
	Commitment rpc.CommitmentType
	// MinContextSlot is a slot that the node must have reached. A node that lags lists less.
	MinContextSlot uint64
	// PageSize limits the transactions per request. If zero, 1,000 are requested, the most that nodes allow.
	PageSize int
	// ShortPages makes the list end only with an empty page, for nodes that list less than requested. It
	// costs a further request. Otherwise a page that is not full is the last.
	ShortPages bool
}

// Pages yields the transactions of a query, the newest first, page by page as the node lists them; none is
// empty. It holds a single page in memory. It ends with the first error: [transaction.ErrBehind],
// [transaction.ErrChainChanged], or an error of the client or the node. The pages before the error are valid.
func Pages(ctx context.Context, client *rpc.Client, query Query) iter.Seq2[[]transaction.Listed, error] {
	size := cmp.Or(query.PageSize, fullPage)
	return func(yield func([]transaction.Listed, error) bool) {
		last := query.Before
		for {
			page, err := nextPage(ctx, client, query, last, size)
			if err == nil && len(page) == 0 && !last.Signature.IsZero() {
				// A node lists nothing after a transaction that a fork removed.
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

// checkListed returns an error unless a node that reached a slot still returns the transaction in the same
// slot.
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
