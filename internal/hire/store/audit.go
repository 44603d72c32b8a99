package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

var (
	_ audit.Source     = (*Store)(nil)
	_ audit.HeadSource = (*Store)(nil)
)

// heads selects the head of each conversation chain. sqlc's functions would keep all rows in memory.
const heads = `SELECT id, audit_length, audit_head FROM hire_conversations`

// AuditSnapshot implements [audit.Source].
func (s *Store) AuditSnapshot(
	ctx context.Context, head func(audit.Head) error, link func(audit.Link) error,
) error {
	tx, err := s.database.Snapshot(ctx)
	if err != nil {
		return s.failed(ctx, err)
	}
	defer tx.Rollback()
	if err := s.eachHead(ctx, tx, head, heads); err != nil {
		return err
	}
	var l audit.Link
	return s.each(ctx, tx, []any{&l.Chain, &l.Sequence, &l.Text, &l.Hash}, func() error { return link(l) },
		`SELECT conversation, sequence, entry, hash FROM hire_entries ORDER BY conversation, sequence`)
}

// ChangedHeads implements [audit.HeadSource].
func (s *Store) ChangedHeads(ctx context.Context, since time.Time, head func(audit.Head) error) error {
	return s.eachHead(ctx, s.database.Reader, head, heads+` WHERE updated_at >= $1`, micros(since))
}

// queryer is a database or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, statement string, arguments ...any) (*sql.Rows, error)
}

func (s *Store) eachHead(
	ctx context.Context, on queryer, act func(audit.Head) error, statement string, arguments ...any,
) error {
	var h audit.Head
	return s.each(ctx, on, []any{&h.Chain, &h.Length, &h.Hash}, func() error { return act(h) },
		statement, arguments...)
}

// each scans every row from a statement into the targets, and calls act, which must not use the store.
func (s *Store) each(
	ctx context.Context, on queryer, targets []any, act func() error, statement string, arguments ...any,
) (err error) {
	rows, err := on.QueryContext(ctx, statement, arguments...)
	if err != nil {
		return s.failed(ctx, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return s.failed(ctx, err)
		}
		if err := act(); err != nil {
			return err
		}
	}
	return s.failed(ctx, rows.Err())
}

// Entry returns a link's message and arrival time.
func (s *Store) Entry(link audit.Link) (*hire.Message, time.Time, error) {
	var entry audit.Entry
	err := json.Unmarshal([]byte(link.Text), &entry)
	var m *hire.Message
	if err == nil {
		m, err = hire.Parse(entry.Data)
	}
	if err != nil {
		return nil, time.Time{}, s.database.Damaged("entry of conversation "+link.Chain, err)
	}
	return m, entry.Time, nil
}
