package indexer

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// errLongList means that the list since the checkpoint is too long for memory.
var errLongList = errors.New("the list of transactions is too long for one poll")

// listed returns the node's list after the checkpoint and up to head, slot by slot, the oldest first. It
// returns errLongList if the list is long and most of it is final.
func (x *Indexer) listed(ctx context.Context, head, final uint64) ([][]entry, error) {
	anchor, floor, err := anchors(ctx, x.database.statements(), x.progress.checkpoint)
	if err != nil {
		return nil, permanently(err)
	}
	var until solana.Signature
	if floor != nil {
		until = floor.signature
	}
	var newest []entry
	var before entry
	for pages := 0; pages < followPages || final <= x.progress.checkpoint+2*settledSlots; pages++ {
		part, err := x.node.list(ctx, before.signature, until, x.config.Commitment, head)
		if err != nil {
			return nil, err
		}
		kept, whole, err := x.upToAnchor(ctx, part, before, anchor, head)
		if err != nil {
			return nil, err
		}
		newest = append(newest, kept...)
		if whole {
			return bySlot(newest, head), nil
		}
		before = part.oldest
	}
	return nil, errLongList
}

// upToAnchor returns the entries of a page after the checkpoint, and reports whether the list ends here: it
// must reach the anchor, or its end if there is no anchor. before is the entry before the page, and head the
// node's minimum slot.
func (x *Indexer) upToAnchor(ctx context.Context, part page, before entry, anchor *known, head uint64) (kept []entry, whole bool, err error) {
	for _, item := range part.entries {
		if item.slot > x.progress.checkpoint {
			kept = append(kept, item)
		}
		if anchor != nil && item.signature == anchor.signature {
			return kept, true, nil
		}
	}
	if part.length == 0 && !before.signature.IsZero() {
		// A node lists nothing after a transaction that a fork has removed.
		there, err := x.node.exists(ctx, before, head)
		if err != nil {
			return nil, false, err
		}
		if !there {
			return nil, false, fmt.Errorf("transaction %s: %w", before.signature, errChainChanged)
		}
	}
	if anchor == nil {
		return kept, part.length == 0, nil
	}
	if part.length == 0 || part.oldest.slot < anchor.slot {
		return nil, false, permanently(fmt.Errorf("%w: transaction %s of slot %d is not listed", ErrHistoryGone, anchor.signature, anchor.slot))
	}
	return kept, false, nil
}

// bySlot groups a list, the newest first, into slots up to head, the oldest first.
func bySlot(newest []entry, head uint64) (slots [][]entry) {
	for i := len(newest) - 1; i >= 0; i-- {
		item := newest[i]
		if item.slot > head {
			break
		}
		if last := len(slots) - 1; last >= 0 && slots[last][0].slot == item.slot {
			slots[last] = append(slots[last], item)
			continue
		}
		slots = append(slots, []entry{item})
	}
	return slots
}

// fork is the first slot at which the database differs from the chain.
type fork struct {
	// slot is noSlot if there is none.
	slot uint64
	// deletes is set if there are rows at or after the slot. upTo is the last of their slots.
	deletes bool
	upTo    uint64
	why     string
}

// compare returns the first slot to read, and the earlier slots that are final since this poll. It ignores
// stored slots after the node's head.
func (x *Indexer) compare(ctx context.Context, listed [][]entry, stored []storedSlot, head, final uint64) (fork, []uint64, error) {
	from, verified, last := fork{slot: noSlot}, []uint64(nil), uint64(0)
	if len(stored) > 0 {
		last = stored[len(stored)-1].slot
	}
	for i := 0; from.slot == noSlot; i++ {
		haveListed, haveStored := i < len(listed), i < len(stored) && stored[i].slot <= head
		switch {
		case !haveListed && !haveStored:
			return from, verified, nil
		case haveListed && (!haveStored || listed[i][0].slot < stored[i].slot):
			from = fork{listed[i][0].slot, i < len(stored), last, "a slot was listed late"}
		case !haveListed || stored[i].slot < listed[i][0].slot:
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
		if errors.Is(err, errChainChanged) {
			return from, verified, nil // The node lists the slot before it has the block.
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

// differs returns the reason why a slot has changed; empty if it has not.
func (x *Indexer) differs(ctx context.Context, was storedSlot, is []entry, head uint64) (string, error) {
	now := make(map[solana.Signature]bool, len(is))
	for _, item := range is {
		now[item.signature] = true
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

// confirmGone returns an error if a transaction that is not listed still exists: a lagging node does not list
// it either.
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
			return fmt.Errorf("transaction %s of slot %d is not listed: %w", signature, was.slot, errBehind)
		}
	}
	return nil
}
