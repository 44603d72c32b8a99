package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/audit"
)

var (
	_ audit.Source     = (*Store)(nil)
	_ audit.HeadSource = (*Store)(nil)
)

func auditEntry(now time.Time, kind string, data json.RawMessage) audit.Entry {
	return audit.Entry{Time: now, Kind: kind, Data: data}
}

const linkColumns = `negotiation_id, sequence, entry, hash`

func scanLink(scan func(...any) error) (l audit.Link, err error) {
	err = scan(&l.Negotiation, &l.Sequence, &l.Text, &l.Hash)
	return l, err
}

func scanHead(scan func(...any) error) (h audit.Head, err error) {
	err = scan(&h.Negotiation, &h.Length, &h.Hash)
	return h, err
}

// AuditSnapshot implements [audit.Source].
func (s *Store) AuditSnapshot(ctx context.Context, heads func(audit.Head) error,
	links func(audit.Link) error) error {
	return s.snapshot(ctx, func(tx querier) error {
		err := each(ctx, tx, scanHead, heads, `SELECT id, audit_length, audit_head FROM negotiations`)
		if err != nil {
			return err
		}
		return each(ctx, tx, scanLink, links, `SELECT `+linkColumns+` FROM audit_entries ORDER BY negotiation_id,
			sequence`)
	})
}

// ChangedHeads implements [audit.HeadSource].
func (s *Store) ChangedHeads(ctx context.Context, since time.Time, act func(audit.Head) error) error {
	if since.IsZero() {
		return each(ctx, s.reader, scanHead, act, `SELECT id, audit_length, audit_head FROM negotiations`)
	}
	return each(ctx, s.reader, scanHead, act,
		`SELECT id, audit_length, audit_head FROM negotiations WHERE updated_at >= $1`,
		micro(since))
}

// AuditEntries returns entries of a negotiation in their order: at most limit of them after the entry with a
// sequence, from 0 for the first.
func (s *Store) AuditEntries(ctx context.Context, negotiation string, after int64, limit int) ([]audit.Link,
	error) {
	if err := checkID("negotiation", negotiation); err != nil {
		return nil, err
	}
	return many(ctx, s.reader, scanLink, `SELECT `+linkColumns+` FROM audit_entries
		WHERE negotiation_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`, negotiation, after,
		min(max(limit, 1), MaxPage))
}

// each calls act for every row of a statement without keeping them.
func each[T any](ctx context.Context, on querier, scan func(func(...any) error) (T, error), act func(T) error,
	statement string, arguments ...any,
) (err error) {
	rows, err := on.query(ctx, statement, arguments...)
	if err != nil {
		return classify(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		row, err := scan(rows.Scan)
		if err != nil {
			return err
		}
		if err := act(row); err != nil {
			return err
		}
	}
	return classify(rows.Err())
}
