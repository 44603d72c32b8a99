package store

import (
	"context"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/arena/chain"
	"github.com/haggle-protocol/haggle/internal/arena/store/queries"
	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

// Load reads a market: the book contains all entries in the chain. each, if not nil, is called with every
// entry's events in sequence. It returns [ErrNotFound], each's error, or an error that wraps
// database.ErrDamaged if the chain is broken, or if an entry is not accepted again as it was.
func (s *Store) Load(ctx context.Context, market string, each func([]arena.Event) error) (*chain.Log, error) {
	l := new(chain.Log)
	err := s.Lines(ctx, market, func(line chain.Line) error {
		events, err := l.Follow(line)
		if err != nil {
			return s.database.Damaged(fmt.Sprintf("entry %d of market %s", line.Sequence, market), err)
		}
		if each == nil {
			return nil
		}
		return each(events)
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Lines calls each with the lines in a market's log, secrets included. It returns [ErrNotFound], each's
// error, or an error that wraps database.ErrDamaged if the last lines are missing.
func (s *Store) Lines(ctx context.Context, market string, each func(chain.Line) error) error {
	found, err := s.read.Market(ctx, market)
	if err != nil {
		return s.failed(ctx, err)
	}
	for after := int64(0); ; {
		rows, err := s.read.Entries(ctx, market, after, pageRows)
		if err != nil {
			return s.failed(ctx, err)
		}
		for _, row := range rows {
			after = row.Sequence
			line := chain.Line{
				Link: audit.Link{Chain: market, Sequence: row.Sequence, Text: row.Entry, Hash: row.Hash},
				Salt: row.Salt, Message: row.Message,
			}
			if row.Sequence == 1 {
				line.Seed = found.Seed
			}
			if err := each(line); err != nil {
				return err
			}
		}
		switch {
		case len(rows) == pageRows:
		case after < found.AuditLength:
			return s.database.Damaged("market "+market, fmt.Errorf("has %d of %d entries", after, found.AuditLength))
		default:
			return nil
		}
	}
}

// Append stores entries that the log's book has accepted, in sequence, all or none. It returns [ErrLost] if
// the holder no longer holds the market. On this and any other error the book is ahead of the chain and must
// be loaded again.
func (s *Store) Append(ctx context.Context, l *chain.Log, holder string, accepted ...arena.Entry) error {
	if len(accepted) == 0 {
		return nil
	}
	lines, err := l.Lines(accepted...)
	if err != nil {
		return err
	}
	last := lines[len(lines)-1]
	err = s.in(ctx, func(q *queries.Queries) error {
		extended, err := q.ExtendChain(ctx, queries.ExtendChainParams{
			AuditLength: last.Sequence, AuditHead: last.Hash, Now: accepted[len(accepted)-1].At.UnixMicro(),
			ID: last.Chain, Holder: holder, Before: l.Head().Length,
		})
		switch {
		case err != nil:
			return s.failed(ctx, err)
		case extended == 0:
			return fmt.Errorf("%w: %s", ErrLost, last.Chain)
		}
		for _, line := range lines {
			if err := q.AddEntry(ctx, queries.AddEntryParams{
				Market: line.Chain, Sequence: line.Sequence, Entry: line.Text, Hash: line.Hash, Salt: line.Salt,
				Message: line.Message,
			}); err != nil {
				return s.failed(ctx, err)
			}
		}
		return nil
	})
	if err == nil {
		l.Add(lines)
	}
	return err
}
