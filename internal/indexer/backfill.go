package indexer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// startBackfill starts the backfill of a long history: all final transactions after the checkpoint. The first
// ones that it reads replace the rows after the checkpoint.
func (x *Indexer) startBackfill(ctx context.Context) error {
	final, err := x.node.slot(ctx, rpc.CommitmentFinalized)
	if err != nil {
		return err
	}
	if final <= x.progress.checkpoint+settledSlots {
		return fmt.Errorf("slot %d is final: %w", final, errBehind)
	}
	p := *x.progress
	p.backlog = &backlog{upTo: final - settledSlots}
	p.head, p.finalized = final, final
	if err := x.apply(ctx, &p, &change{}); err != nil {
		return err
	}
	x.progress = &p
	return nil
}

// backfillAll lists and reads the backlog to its end.
func (x *Indexer) backfillAll(ctx context.Context) error {
	for !x.progress.backlog.listed {
		if err := x.listBacklog(ctx); err != nil {
			return err
		}
	}
	for x.progress.backlog != nil {
		if err := x.readBacklog(ctx); err != nil {
			return err
		}
	}
	return nil
}

// listBacklog adds a page of the list to the backlog, and stores the cursor of the next page.
func (x *Indexer) listBacklog(ctx context.Context) error {
	anchor, floor, err := anchors(ctx, x.database.statements(), x.progress.checkpoint)
	if err != nil {
		return permanently(err)
	}
	var until solana.Signature
	if floor != nil {
		until = floor.signature
	}
	next := *x.progress
	part, err := x.node.list(ctx, next.backlog.cursor.signature, until, rpc.CommitmentFinalized, next.finalized)
	if err != nil {
		return err
	}
	kept, whole, err := x.upToAnchor(ctx, part, next.backlog.cursor, anchor, next.finalized)
	if err != nil {
		return err
	}
	state := *next.backlog
	state.cursor, state.listed = part.oldest, whole
	next.backlog = &state
	err = x.database.write(ctx, func(s statements) error {
		if err := x.progress.lock(ctx, s); err != nil {
			return err
		}
		var place int64
		if err := s.row(ctx, `SELECT COALESCE(MAX(place), 0) FROM backlog`).Scan(&place); err != nil {
			return err
		}
		for _, item := range kept {
			if item.slot > state.upTo {
				continue // A later poll lists it.
			}
			place++
			_, err := s.exec(ctx, `INSERT INTO backlog (place, slot, signature, in_block) VALUES ($1, $2, $3, $4)`,
				place, int64(item.slot), item.signature.String(), inBlockOrNull(item.inBlock))
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

func inBlockOrNull(index *uint32) any {
	if index == nil {
		return nil
	}
	return int64(*index)
}

// readBacklog reads the oldest slots of the backlog. Rows after the checkpoint are those that were there
// before: they are replaced, all at once.
func (x *Indexer) readBacklog(ctx context.Context) error {
	var last sql.NullInt64
	err := x.database.statements().row(ctx, `SELECT MAX(slot) FROM slots WHERE slot > $1`, int64(x.progress.checkpoint)).Scan(&last)
	if err != nil {
		return permanently(err)
	}
	listed, next, left, err := x.oldest(ctx, last.Int64)
	if err != nil {
		return permanently(err)
	}
	upTo := x.progress.backlog.upTo
	slots, err := x.node.readSlots(ctx, listed, upTo)
	if err != nil {
		return err
	}
	c := &change{slots: slots, backlogRead: true, next: next, limit: upTo}
	var addresses []solana.PublicKey
	if last.Valid {
		from := x.progress.checkpoint + 1
		c.from = &from
		addresses, err = x.since(ctx, from)
		addresses = append(addresses, negotiationsOf(slots)...)
	} else {
		addresses, err = x.unread(ctx, slots)
	}
	if err != nil {
		return permanently(err)
	}
	if err := x.readAccounts(ctx, c, addresses, x.progress.finalized); err != nil {
		return err
	}
	x.report.Left = left
	return x.apply(ctx, x.progress, c)
}

// oldest returns the first slots of the backlog, at least up to a slot, the slot after them, and the number
// of transactions that are left.
func (x *Indexer) oldest(ctx context.Context, atLeast int64) (listed [][]entry, next, left uint64, err error) {
	s := x.database.statements()
	var end sql.NullInt64
	err = s.row(ctx, `SELECT slot FROM backlog ORDER BY slot LIMIT 1 OFFSET $1`, transactionsAtOnce-1).Scan(&end)
	if errors.Is(err, sql.ErrNoRows) {
		end.Int64, err = int64(noSlot), nil
	}
	if err != nil {
		return nil, 0, 0, err
	}
	end.Int64 = max(end.Int64, atLeast)
	var entries []entry
	err = s.each(ctx, func(scan func(...any) error) error {
		var item entry
		var text string
		var inBlock sql.NullInt64
		if err := scan(&item.slot, &text, &inBlock); err != nil {
			return err
		}
		if inBlock.Valid {
			index := uint32(inBlock.Int64)
			item.inBlock = &index
		}
		var err error
		item.signature, err = solana.SignatureFromBase58(text)
		entries = append(entries, item)
		return err
	}, `SELECT slot, signature, in_block FROM backlog WHERE slot <= $1 ORDER BY slot DESC, place`, end.Int64)
	if err != nil {
		return nil, 0, 0, err
	}
	next = noSlot
	var following sql.NullInt64
	err = s.row(ctx, `SELECT MIN(slot), COUNT(*) FROM backlog WHERE slot > $1`, end.Int64).Scan(&following, &left)
	if following.Valid {
		next = uint64(following.Int64)
	}
	return bySlot(entries, noSlot), next, left, err
}

// unread returns the negotiations of slots whose account was not read since, or that were created anew.
func (x *Indexer) unread(ctx context.Context, slots []readSlot) ([]solana.PublicKey, error) {
	var unread []solana.PublicKey
	for _, address := range negotiationsOf(slots) {
		var checked uint64
		err := x.database.statements().row(ctx, `SELECT COALESCE(MAX(checked_slot), 0) FROM accounts WHERE negotiation = $1`, address.String()).Scan(&checked)
		if err != nil {
			return nil, err
		}
		if needsRead(slots, address, checked) {
			unread = append(unread, address)
		}
	}
	return unread, nil
}

// needsRead reports whether a negotiation has an event that is not part of its account's state at a slot.
func needsRead(slots []readSlot, address solana.PublicKey, checked uint64) bool {
	for _, read := range slots {
		for _, transaction := range read.transactions {
			for _, event := range transaction.events {
				if event.negotiation != nil && *event.negotiation == address && (read.slot > checked || event.changesLife()) {
					return true
				}
			}
		}
	}
	return false
}
