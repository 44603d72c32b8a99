package indexer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// errLongList means that the list since the checkpoint is too long for memory.
var errLongList = errors.New("the list of transactions is too long for one poll")

// listed returns the node's list beyond the checkpoint through head, slot by slot, oldest first. It returns
// errLongList if the list is long and most of it is final.
func (x *Indexer) listed(ctx context.Context, head, final uint64) ([][]transaction.Listed, error) {
	var newest []transaction.Listed
	pages := 0
	for page, err := range x.sinceCheckpoint(ctx, transaction.Listed{}, x.config.Commitment, head) {
		if err != nil {
			return nil, err
		}
		if pages++; pages > followPages && final > x.progress.checkpoint+2*transaction.SettledSlots {
			return nil, errLongList
		}
		newest = append(newest, x.afterCheckpoint(page)...)
	}
	return bySlot(newest, head), nil
}

// sinceCheckpoint yields the node's list, newest page first, back to the last indexed transaction, which the
// list must contain. It continues after the transaction before; head is the node's minimum slot.
func (x *Indexer) sinceCheckpoint(
	ctx context.Context, before transaction.Listed, commitment rpc.CommitmentType, head uint64,
) iter.Seq2[[]transaction.Listed, error] {
	return func(yield func([]transaction.Listed, error) bool) {
		anchor, floor, err := anchors(ctx, x.database.statements(), x.progress.checkpoint)
		if err != nil {
			yield(nil, permanently(err))
			return
		}
		options := haggle.ListTransactionsOptions{Before: before, Commitment: commitment, MinSlot: head}
		if floor != nil {
			options.Until = floor.signature
		}
		for page, err := range haggle.ListTransactions(ctx, x.node.rpc, options) {
			found := slices.ContainsFunc(page, func(item transaction.Listed) bool {
				return anchor != nil && item.Signature == anchor.signature
			})
			passed := len(page) > 0 && anchor != nil && page[len(page)-1].Slot < anchor.slot
			if passed && !found {
				break
			}
			if !yield(page, err) || err != nil || found {
				return
			}
		}
		if anchor != nil {
			yield(nil, permanently(fmt.Errorf("%w: transaction %s of slot %d is not listed", ErrHistoryGone, anchor.signature, anchor.slot)))
		}
	}
}

// afterCheckpoint returns a page's successful transactions beyond the checkpoint.
func (x *Indexer) afterCheckpoint(page []transaction.Listed) []transaction.Listed {
	return slices.DeleteFunc(slices.Clone(page), func(item transaction.Listed) bool {
		return item.Failed || item.Slot <= x.progress.checkpoint
	})
}

// bySlot groups a list, newest first, into slots through head, oldest first.
func bySlot(newest []transaction.Listed, head uint64) (slots [][]transaction.Listed) {
	for i := len(newest) - 1; i >= 0; i-- {
		item := newest[i]
		if item.Slot > head {
			break
		}
		if last := len(slots) - 1; last >= 0 && slots[last][0].Slot == item.Slot {
			slots[last] = append(slots[last], item)
			continue
		}
		slots = append(slots, []transaction.Listed{item})
	}
	return slots
}

// fork is the first slot where the database differs from the chain.
type fork struct {
	// slot is noSlot if nothing differs.
	slot uint64
	// deletes is set if there are rows at the slot or later. upTo is their last slot.
	deletes bool
	upTo    uint64
	why     string
}

// compare returns the first slot to read, and the earlier slots that became final since the previous poll. It
// ignores stored slots beyond the node's head.
func (x *Indexer) compare(ctx context.Context, listed [][]transaction.Listed, stored []storedSlot, head, final uint64) (fork, []uint64, error) {
	from, verified, last := fork{slot: noSlot}, []uint64(nil), uint64(0)
	if len(stored) > 0 {
		last = stored[len(stored)-1].slot
	}
	for i := 0; from.slot == noSlot; i++ {
		haveListed, haveStored := i < len(listed), i < len(stored) && stored[i].slot <= head
		switch {
		case !haveListed && !haveStored:
			return from, verified, nil
		case haveListed && (!haveStored || listed[i][0].Slot < stored[i].slot):
			from = fork{listed[i][0].Slot, i < len(stored), last, "a slot was listed late"}
		case !haveListed || stored[i].slot < listed[i][0].Slot:
			if err := x.confirmGone(ctx, stored[i], nil, head); err != nil {
				return from, nil, err
			}
			from = fork{stored[i].slot, true, last, "a block was removed"}
		default:
			why, err := x.differs(ctx, stored[i], listed[i], head)
			if err != nil {
				return from, nil, err
			}
			if why != "" {
				from = fork{stored[i].slot, true, last, why}
			}
		}
		if from.slot != noSlot || stored[i].final || stored[i].slot > final {
			continue
		}
		read, err := x.node.block(ctx, stored[i].slot, rpc.CommitmentFinalized, false)
		if errors.Is(err, transaction.ErrChainChanged) {
			return from, verified, nil // The node lists the slot before it serves the block.
		}
		if err != nil {
			return from, nil, err
		}
		if read.hash != stored[i].blockhash {
			from = fork{stored[i].slot, true, last, "a block was replaced"}
			continue
		}
		verified = append(verified, stored[i].slot)
	}
	return from, verified, nil
}

// differs returns the reason why a slot changed; empty if unchanged.
func (x *Indexer) differs(ctx context.Context, was storedSlot, is []transaction.Listed, head uint64) (string, error) {
	now := make(map[solana.Signature]bool, len(is))
	for _, item := range is {
		now[item.Signature] = true
	}
	for signature := range was.signatures {
		if !now[signature] {
			return "a transaction was removed", x.confirmGone(ctx, was, now, head)
		}
	}
	if len(now) > len(was.signatures) {
		return "a transaction was listed late", nil
	}
	return "", nil
}

// confirmGone returns an error if an unlisted transaction still exists: a lagging node does not list it
// either.
func (x *Indexer) confirmGone(ctx context.Context, was storedSlot, now map[solana.Signature]bool, head uint64) error {
	for signature := range was.signatures {
		if now[signature] {
			continue
		}
		there, err := x.node.isAt(ctx, signature, was.slot, head)
		if err != nil {
			return err
		}
		if there {
			return fmt.Errorf("transaction %s of slot %d is not listed: %w", signature, was.slot, transaction.ErrBehind)
		}
	}
	return nil
}
