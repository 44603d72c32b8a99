package store

import (
	"context"
	"time"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

var (
	_ audit.Source     = (*Store)(nil)
	_ audit.HeadSource = (*Store)(nil)
)

// allHeads selects the head of each negotiation.
const allHeads = `SELECT id, audit_length, audit_head FROM negotiations`

// AuditSnapshot implements [audit.Source]. A chain is named by the negotiation id.
func (s *Store) AuditSnapshot(ctx context.Context, heads func(audit.Head) error,
	links func(audit.Link) error) error {
	return s.snapshot(ctx, func(on statements) error {
		if err := eachHead(ctx, on, heads, allHeads); err != nil {
			return err
		}
		var l audit.Link
		return on.each(ctx, func(scan scan) error {
			if err := scan(&l.Chain, &l.Sequence, &l.Text, &l.Hash); err != nil {
				return err
			}
			return links(l)
		},
			`SELECT negotiation_id, sequence, entry, hash FROM audit_entries ORDER BY negotiation_id, sequence`)
	})
}

// ChangedHeads implements [audit.HeadSource].
func (s *Store) ChangedHeads(ctx context.Context, since time.Time, act func(audit.Head) error) error {
	if since.IsZero() {
		return eachHead(ctx, s.read, act, allHeads)
	}
	return eachHead(ctx, s.read, act, allHeads+` WHERE updated_at >= $1`, since.UnixMicro())
}

// AuditEntries returns up to limit entries of a negotiation in sequence order, starting after a sequence; 0
// selects the first entry.
func (s *Store) AuditEntries(ctx context.Context, negotiation string, after int64, limit int) ([]audit.Link,
	error) {
	if err := checkID("negotiation", negotiation); err != nil {
		return nil, err
	}
	return several(func(row queries.AuditEntry) audit.Link {
		return audit.Link{Chain: row.NegotiationID, Sequence: row.Sequence, Text: row.Entry, Hash: row.Hash}
	})(s.read.AuditEntries(ctx, queries.AuditEntriesParams{
		NegotiationID: negotiation, After: after, MaxRows: int64(min(max(limit, 1), MaxPage)),
	}))
}

func eachHead(
	ctx context.Context, on statements, act func(audit.Head) error, statement string, arguments ...any,
) error {
	var h audit.Head
	return classify(on.each(ctx, func(scan scan) error {
		if err := scan(&h.Chain, &h.Length, &h.Hash); err != nil {
			return err
		}
		return act(h)
	}, statement, arguments...))
}
