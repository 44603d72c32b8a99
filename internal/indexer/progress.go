package indexer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Errors after which Run does not retry.
var (
	// ErrAnotherIndexer means that another process wrote to the database since this indexer's last write.
	ErrAnotherIndexer = errors.New("another indexer is writing to this database")
	// ErrOtherChain means that the database indexes another chain or another program.
	ErrOtherChain = errors.New("the database is the index of another chain")
	// ErrHistoryGone means that the node no longer lists the last indexed transaction, so later transactions
	// could be missing. Use a node with a longer history.
	ErrHistoryGone = errors.New("the node's history does not reach back to where the index ends")
)

// progress is the table progress's row.
type progress struct {
	revision   int64
	genesis    string
	commitment string
	// checkpoint is the slot through which everything is indexed and final.
	checkpoint uint64
	head       uint64
	finalized  uint64
	backlog    *backlog
}

// backlog is a long history during a backfill: everything beyond the checkpoint through a final slot.
type backlog struct {
	upTo uint64
	// cursor is the oldest listed transaction.
	cursor transaction.Listed
	listed bool
}

func readProgress(ctx context.Context, s statements) (*progress, error) {
	p := new(progress)
	var program string
	var upTo, cursorSlot *uint64
	var cursor *string
	var listed bool
	err := s.row(ctx, `SELECT revision, program, genesis_hash, commitment, checkpoint_slot, head_slot, finalized_slot,
		backlog_slot, backlog_cursor, backlog_cursor_slot, backlog_listed FROM progress`).
		Scan(&p.revision, &program, &p.genesis, &p.commitment, &p.checkpoint, &p.head, &p.finalized, &upTo, &cursor, &cursorSlot, &listed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotIndexed
	}
	if err != nil {
		return nil, err
	}
	if program != protocol.ProgramAddress {
		return nil, fmt.Errorf("%w: its program is %s, not %s", ErrOtherChain, program, protocol.ProgramAddress)
	}
	if upTo == nil {
		return p, nil
	}
	p.backlog = &backlog{upTo: *upTo, listed: listed}
	if cursor != nil && cursorSlot != nil {
		p.backlog.cursor.Slot = *cursorSlot
		p.backlog.cursor.Signature, err = solana.SignatureFromBase58(*cursor)
	}
	return p, err
}

// begin returns the progress for this chain's index. It creates the row if missing.
func begin(ctx context.Context, database *Database, genesis, commitment string) (*progress, error) {
	var p *progress
	err := database.write(ctx, func(s statements) error {
		_, err := s.exec(ctx, `INSERT INTO progress (id, revision, program, genesis_hash, commitment, checkpoint_slot, head_slot, finalized_slot,
			updated_at) VALUES (1, 0, $1, $2, $3, 0, 0, 0, $4) ON CONFLICT (id) DO NOTHING`,
			protocol.ProgramAddress, genesis, commitment, time.Now().Unix())
		if err == nil {
			p, err = readProgress(ctx, s)
		}
		return err
	})
	if err == nil && p.genesis != genesis {
		err = fmt.Errorf("%w: its genesis hash is %s, the node's is %s", ErrOtherChain, p.genesis, genesis)
	}
	return p, err
}

// lock locks the row until the transaction ends. It returns ErrAnotherIndexer if another process has changed
// it.
func (p *progress) lock(ctx context.Context, s statements) error {
	changed, err := s.exec(ctx, `UPDATE progress SET revision = revision + 1 WHERE id = 1 AND revision = $1`, p.revision)
	if err == nil && changed == 0 {
		err = ErrAnotherIndexer
	}
	return err
}

// store writes the row in a transaction that has called lock.
func (p *progress) store(ctx context.Context, s statements) error {
	var upTo, cursor, cursorSlot any
	listed := false
	if p.backlog != nil {
		upTo, listed = int64(p.backlog.upTo), p.backlog.listed
		if last := p.backlog.cursor; !last.Signature.IsZero() {
			cursor, cursorSlot = last.Signature.String(), int64(last.Slot)
		}
	}
	_, err := s.exec(ctx, `UPDATE progress SET commitment = $1, checkpoint_slot = $2, head_slot = $3, finalized_slot = $4,
		backlog_slot = $5, backlog_cursor = $6, backlog_cursor_slot = $7, backlog_listed = $8, updated_at = $9 WHERE id = 1`,
		p.commitment, int64(p.checkpoint), int64(p.head), int64(p.finalized), upTo, cursor, cursorSlot, listed, time.Now().Unix())
	return err
}

// known is a transaction in the database.
type known struct {
	slot      uint64
	signature solana.Signature
}

// anchors returns the last transaction at or before the checkpoint, which a list must contain, and a
// transaction in an earlier slot, where the list can end. Either can be nil.
func anchors(ctx context.Context, s statements, checkpoint uint64) (anchor, floor *known, err error) {
	if anchor, err = lastUpTo(ctx, s, int64(checkpoint)); err != nil || anchor == nil {
		return nil, nil, err
	}
	floor, err = lastUpTo(ctx, s, int64(anchor.slot)-1)
	return anchor, floor, err
}

func lastUpTo(ctx context.Context, s statements, slot int64) (*known, error) {
	found := new(known)
	var signature string
	err := s.row(ctx, `SELECT slot, signature FROM transactions WHERE slot <= $1 ORDER BY slot DESC, position DESC LIMIT 1`, slot).
		Scan(&found.slot, &signature)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		found.signature, err = solana.SignatureFromBase58(signature)
	}
	return found, err
}

// storedSlot is a slot in the database.
type storedSlot struct {
	slot       uint64
	blockhash  string
	final      bool
	signatures map[solana.Signature]bool
}

// storedAfter returns the slots beyond the checkpoint, in order.
func storedAfter(ctx context.Context, s statements, checkpoint uint64) ([]storedSlot, error) {
	var slots []storedSlot
	err := s.each(ctx, func(scan scanner) error {
		var read storedSlot
		var text string
		if err := scan(&read.slot, &read.blockhash, &read.final, &text); err != nil {
			return err
		}
		signature, err := solana.SignatureFromBase58(text)
		if err != nil {
			return err
		}
		if last := len(slots) - 1; last < 0 || slots[last].slot != read.slot {
			read.signatures = make(map[solana.Signature]bool)
			slots = append(slots, read)
		}
		slots[len(slots)-1].signatures[signature] = true
		return nil
	}, `SELECT s.slot, s.blockhash, s.final, t.signature FROM slots s JOIN transactions t ON t.slot = s.slot
		WHERE s.slot > $1 ORDER BY s.slot, t.position`, int64(checkpoint))
	return slots, err
}
