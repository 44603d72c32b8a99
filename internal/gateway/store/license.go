package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// Kinds of audit entries. They are stored, so they keep the earlier spelling.
const (
	kindLicense        = "licence"
	kindLicenseRevoked = "licence_revoked"
)

// License is the publisher's rule for a client.
type License struct {
	// ID is set by the store.
	ID          int64
	Publisher   int64
	Client      int64
	Negotiation string
	Document    json.RawMessage
	CreatedAt   time.Time
	// RevokedAt is zero while the license is valid.
	RevokedAt time.Time
}

func licenseOf(row queries.License) License {
	return License{
		ID: row.ID, Publisher: row.PublisherID, Client: row.ClientID, Negotiation: row.NegotiationID,
		Document: json.RawMessage(row.PolicyJSON), CreatedAt: time.Time(row.CreatedAt),
		RevokedAt: time.Time(row.RevokedAt),
	}
}

// GenerateLicense writes an accepted negotiation's license and links both. created is false if a license
// exists already; that license is returned. The document can be empty if a license exists or the negotiation
// is not accepted. It returns a [StatusError] if the negotiation is not accepted, [ErrNotFound] and
// [ErrInProgress].
func (s *Store) GenerateLicense(
	ctx context.Context, negotiation string, document json.RawMessage,
) (l License, created bool, err error) {
	if err := checkID("negotiation", negotiation); err != nil {
		return l, false, err
	}
	err = s.transact(ctx, func(t *transaction) error {
		states, _, err := t.lockNegotiations(ctx, RoundRequest{Negotiations: []string{negotiation}})
		if err != nil {
			return err
		}
		state := states[0]
		switch {
		case state.Status != engine.Accepted:
			return &StatusError{Status: state.Status, Reason: state.Reason}
		case state.License != 0:
			l, err = single(licenseName(state.License), licenseOf)(t.License(ctx, state.License))
			return err
		case len(document) == 0:
			return ErrInProgress // accepted after the caller read it
		}
		result := single("license of negotiation "+negotiation, licenseOf)
		l, err = result(t.AddLicense(ctx, queries.AddLicenseParams{
			PublisherID: state.Publisher, ClientID: state.Client, NegotiationID: state.ID,
			PolicyJSON: queries.JSON(document), CreatedAt: queries.NullTime(state.Now),
		}))
		if err != nil {
			return err
		}
		created = true
		return t.record(state, kindLicense, map[string]any{"policy_id": l.ID, "policy": document},
			func(n *Negotiation) {
				n.License = l.ID
			})
	})
	if err != nil {
		return License{}, false, err
	}
	return l, created, nil
}

// record changes a locked negotiation outside a round, and adds an audit entry.
func (t *transaction) record(state State, kind string, data any,
	change func(*Negotiation)) error {
	entry, err := json.Marshal(data)
	if err != nil {
		return err
	}
	n := state.Negotiation
	c := changes{by: t.by}
	if err := c.chain(&n, audit.Entry{Time: state.Now, Kind: kind, Data: entry}); err != nil {
		return err
	}
	n.UpdatedAt = state.Now
	change(&n)
	t.writes = append(c.writes(), writesOf(queries.Querier.UpdateNegotiation, n.update())...)
	return nil
}

// RevokeLicense revokes a negotiation's license. A license revoked before keeps the earlier time. It returns
// [ErrNotFound] if the publisher issued no license for the negotiation.
func (s *Store) RevokeLicense(ctx context.Context, publisher int64, negotiation, reason string) (l License,
	err error) {
	if err := checkID("negotiation", negotiation); err != nil {
		return l, err
	}
	result := single("license of negotiation "+negotiation, licenseOf)
	err = s.transact(ctx, func(t *transaction) error {
		states, _, err := t.lockNegotiations(ctx, RoundRequest{Negotiations: []string{negotiation}})
		if err != nil {
			return err
		}
		l, err = result(t.LicenseOfNegotiation(ctx, negotiation, publisher))
		if err != nil || !l.RevokedAt.IsZero() {
			return err
		}
		l, err = result(t.RevokeLicense(ctx, queries.NullTime(states[0].Now), l.ID))
		if err != nil {
			return err
		}
		return t.record(states[0], kindLicenseRevoked, map[string]any{"policy_id": l.ID, "reason": reason},
			func(*Negotiation) {})
	})
	return l, err
}

// License returns a license, or [ErrNotFound].
func (s *Store) License(ctx context.Context, id int64) (License, error) {
	return single(licenseName(id), licenseOf)(s.read.License(ctx, id))
}

func licenseName(id int64) string { return fmt.Sprintf("license %d", id) }

// Licenses lists the licenses of a publisher, a client or both, newest first. Zero selects all.
func (s *Store) Licenses(ctx context.Context, publisher, client int64, page Page) (List[License], error) {
	var conditions where
	if publisher != 0 {
		conditions = append(conditions, condition{"publisher_id = ", publisher})
	}
	if client != 0 {
		conditions = append(conditions, condition{"client_id = ", client})
	}
	return list(ctx, s, page, licenseOf, func(l License) Cursor { return numberedCursor(l.CreatedAt, l.ID) },
		"policies", conditions)
}
