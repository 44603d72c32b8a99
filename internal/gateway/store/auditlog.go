package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

var (
	_ audit.Source     = (*Store)(nil)
	_ audit.HeadSource = (*Store)(nil)
)

// allHeads selects the head of each negotiation.
const allHeads = `SELECT id, audit_length, audit_head FROM negotiations`

// AuditSnapshot implements [audit.Source]. The id of a negotiation names its chain.
func (s *Store) AuditSnapshot(ctx context.Context, heads func(audit.Head) error,
	links func(audit.Link) error) error {
	return s.snapshot(ctx, func(on sqlAdapter) error {
		if err := eachHead(ctx, on, heads, allHeads); err != nil {
			return err
		}
		var l audit.Link
		return each(ctx, on, []any{&l.Chain, &l.Sequence, &l.Text, &l.Hash}, func() error { return links(l) },
			`SELECT negotiation_id, sequence, entry, hash FROM audit_entries ORDER BY negotiation_id, sequence`)
	})
}

// ChangedHeads implements [audit.HeadSource].
func (s *Store) ChangedHeads(ctx context.Context, since time.Time, act func(audit.Head) error) error {
	on := sqlAdapter{s.reader, s.Dialect}
	if since.IsZero() {
		return eachHead(ctx, on, act, allHeads)
	}
	return eachHead(ctx, on, act, allHeads+` WHERE updated_at >= $1`, since.UnixMicro())
}

// AuditEntries returns entries of a negotiation in their order: at most limit of them after the entry with a
// sequence, from 0 for the first.
func (s *Store) AuditEntries(ctx context.Context, negotiation string, after int64, limit int) ([]audit.Link,
	error) {
	if err := checkID("negotiation", negotiation); err != nil {
		return nil, err
	}
	return several(func(row queries.AuditEntry) audit.Link {
		return audit.Link{Chain: row.NegotiationID, Sequence: row.Sequence, Text: row.Entry, Hash: row.Hash}
	})(s.readQueries.AuditEntries(ctx, queries.AuditEntriesParams{
		NegotiationID: negotiation, After: after, MaxRows: int32(min(max(limit, 1), MaxPage)),
	}))
}

func eachHead(
	ctx context.Context, on sqlAdapter, act func(audit.Head) error, statement string, arguments ...any,
) error {
	var h audit.Head
	return each(ctx, on, []any{&h.Chain, &h.Length, &h.Hash}, func() error { return act(h) }, statement,
		arguments...)
}

// each scans every row of a statement into the targets, and calls act. It keeps no rows, unlike the functions
// of sqlc.
func each(
	ctx context.Context, on sqlAdapter, targets []any, act func() error, statement string, arguments ...any,
) error {
	rows, err := on.Query(ctx, statement, arguments...)
	if err != nil {
		return classify(err)
	}
	_, err = pgx.ForEachRow(rows, targets, act)
	return classify(err)
}
