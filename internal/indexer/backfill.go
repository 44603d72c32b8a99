package indexer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// startBackfill starts backfilling a long history: all final transactions beyond the checkpoint. The first
// transactions read replace the rows beyond the checkpoint.
func (x *Indexer) startBackfill(ctx context.Context) error {
	final, err := x.node.slot(ctx, rpc.CommitmentFinalized)
	if err != nil {
		return err
	}
	if final <= x.progress.checkpoint+transaction.SettledSlots {
		return fmt.Errorf("slot %d is final: %w", final, transaction.ErrBehind)
	}
	p := *x.progress
	p.backlog = &backlog{upTo: final - transaction.SettledSlots}
	p.head, p.finalized = final, final
	if err := x.apply(ctx, &p, &batch{}); err != nil {
		return err
	}
	x.progress = &p
	return nil
}

// backfillAll lists and reads the whole backlog.
func (x *Indexer) backfillAll(ctx context.Context) error {
	if err := x.listBacklog(ctx); err != nil {
		return err
	}
	for x.progress.backlog != nil {
		if err := x.readBacklog(ctx); err != nil {
			return err
		}
	}
	return nil
}

// listBacklog lists the rest of the backlog. It stores each page with the cursor for the next page.
func (x *Indexer) listBacklog(ctx context.Context) error {
	if x.progress.backlog.listed {
		return nil
	}
	cursor := x.progress.backlog.cursor
	for page, err := range x.sinceCheckpoint(ctx, cursor, rpc.CommitmentFinalized, x.progress.finalized) {
		if err != nil {
			return err
		}
		cursor = page[len(page)-1]
		if err := x.storeBacklog(ctx, x.afterCheckpoint(page), cursor, false); err != nil {
			return err
		}
	}
	return x.storeBacklog(ctx, nil, cursor, true)
}

// storeBacklog adds transactions to the backlog.
func (x *Indexer) storeBacklog(
	ctx context.Context, added []transaction.Listed, cursor transaction.Listed, listed bool,
) error {
	next := *x.progress
	next.backlog = &backlog{upTo: x.progress.backlog.upTo, cursor: cursor, listed: listed}
	err := x.database.write(ctx, func(s statements) error {
		if err := x.progress.lock(ctx, s); err != nil {
			return err
		}
		var place int64
		if err := s.row(ctx, `SELECT COALESCE(MAX(place), 0) FROM backlog`).Scan(&place); err != nil {
			return err
		}
		for _, item := range added {
			if item.Slot > next.backlog.upTo {
				continue // A later poll lists it.
			}
			place++
			_, err := s.exec(ctx, `INSERT INTO backlog (place, slot, signature, in_block) VALUES ($1, $2, $3, $4)`,
				place, int64(item.Slot), item.Signature.String(), item.Index)
			if err != nil {
				return err
			}
		}
		x.report.Left = uint64(place)
		return next.store(ctx, s)
	})
	if err != nil {
		return permanently(err)
	}
	next.revision++
	x.progress = &next
	x.config.Report(x.report)
	return nil
}

// readBacklog reads the oldest slots of the backlog. Rows beyond the checkpoint were written before the
// backfill: they are replaced, all at once.
func (x *Indexer) readBacklog(ctx context.Context) error {
	// last is 0 if there are none.
	var last uint64
	err := x.database.statements().row(ctx, `SELECT COALESCE(MAX(slot), 0) FROM slots WHERE slot > $1`,
		int64(x.progress.checkpoint)).Scan(&last)
	if err != nil {
		return permanently(err)
	}
	listed, next, left, err := x.oldest(ctx, last)
	if err != nil {
		return permanently(err)
	}
	upTo := x.progress.backlog.upTo
	slots, err := x.node.readSlots(ctx, listed, upTo)
	if err != nil {
		return err
	}
	b := &batch{slots: slots, backlogRead: true, next: next, limit: upTo}
	var addresses []solana.PublicKey
	if last > 0 {
		from := x.progress.checkpoint + 1
		b.from = &from
		if addresses, err = x.since(ctx, from); err != nil {
			return permanently(err)
		}
	}
	addresses = append(addresses, negotiationsOf(slots)...)
	if err := x.readAccounts(ctx, b, addresses, x.progress.finalized); err != nil {
		return err
	}
	x.report.Left = left
	return x.apply(ctx, x.progress, b)
}

// oldest returns the first slots of the backlog, at least through a given slot, the slot after them, and the
// number of remaining transactions.
func (x *Indexer) oldest(
	ctx context.Context, atLeast uint64,
) (listed [][]transaction.Listed, next, left uint64, err error) {
	s, end := x.database.statements(), noSlot
	err = s.row(ctx, `SELECT slot FROM backlog ORDER BY slot LIMIT 1 OFFSET $1`, transactionsAtOnce-1).Scan(&end)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, 0, 0, err
	}
	end = max(end, atLeast)
	entries, err := all(ctx, s, func(item *transaction.Listed, scan scanner) error {
		var text string
		err := scan(&item.Slot, &text, &item.Index)
		if err == nil {
			item.Signature, err = solana.SignatureFromBase58(text)
		}
		return err
	}, `SELECT slot, signature, in_block FROM backlog WHERE slot <= $1 ORDER BY slot DESC, place`, int64(end))
	if err != nil {
		return nil, 0, 0, err
	}
	err = s.row(ctx, `SELECT COALESCE(MIN(slot), $1), COUNT(*) FROM backlog WHERE slot > $2`, int64(noSlot),
		int64(end)).Scan(&next, &left)
	return bySlot(entries, noSlot), next, left, err
}
