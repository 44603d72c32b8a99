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

// Policy is a licence: the publisher's rule for a client.
type Policy struct {
	// ID is set by the store.
	ID          int64
	Publisher   int64
	Client      int64
	Negotiation string
	Policy      json.RawMessage
	CreatedAt   time.Time
	// RevokedAt is zero while the licence is valid.
	RevokedAt time.Time
}

func policyOf(row queries.Policy) Policy {
	return Policy{
		ID: row.ID, Publisher: row.PublisherID, Client: row.ClientID, Negotiation: row.NegotiationID,
		Policy: json.RawMessage(row.PolicyJSON), CreatedAt: time.Time(row.CreatedAt),
		RevokedAt: time.Time(row.RevokedAt),
	}
}

// GenerateLicence writes an accepted negotiation's licence and links both. created is false if a licence
// exists already; that licence is returned. The document can be empty if a licence exists or the negotiation
// is not accepted. It returns a [StatusError] if the negotiation is not accepted, [ErrNotFound] and
// [ErrInProgress].
func (s *Store) GenerateLicence(
	ctx context.Context, negotiation string, document json.RawMessage,
) (p Policy, created bool, err error) {
	if err := checkID("negotiation", negotiation); err != nil {
		return p, false, err
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
		case state.Policy != 0:
			p, err = single(policyName(state.Policy), policyOf)(t.Policy(ctx, state.Policy))
			return err
		case len(document) == 0:
			return ErrInProgress // accepted after the caller read it
		}
		result := single("licence of negotiation "+negotiation, policyOf)
		p, err = result(t.AddPolicy(ctx, queries.AddPolicyParams{
			PublisherID: state.Publisher, ClientID: state.Client, NegotiationID: state.ID,
			PolicyJSON: queries.JSON(document), CreatedAt: queries.NullTime(state.Now),
		}))
		if err != nil {
			return err
		}
		created = true
		return t.record(state, "licence", map[string]any{"policy_id": p.ID, "policy": document},
			func(n *Negotiation) {
				n.Policy = p.ID
			})
	})
	if err != nil {
		return Policy{}, false, err
	}
	return p, created, nil
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

// RevokeLicence revokes a negotiation's licence. A licence revoked before keeps the earlier time. It returns
// [ErrNotFound] if the publisher issued no licence for the negotiation.
func (s *Store) RevokeLicence(ctx context.Context, publisher int64, negotiation, reason string) (p Policy,
	err error) {
	if err := checkID("negotiation", negotiation); err != nil {
		return p, err
	}
	result := single("licence of negotiation "+negotiation, policyOf)
	err = s.transact(ctx, func(t *transaction) error {
		states, _, err := t.lockNegotiations(ctx, RoundRequest{Negotiations: []string{negotiation}})
		if err != nil {
			return err
		}
		p, err = result(t.PolicyOfNegotiation(ctx, negotiation, publisher))
		if err != nil || !p.RevokedAt.IsZero() {
			return err
		}
		p, err = result(t.RevokePolicy(ctx, queries.NullTime(states[0].Now), p.ID))
		if err != nil {
			return err
		}
		return t.record(states[0], "licence_revoked", map[string]any{"policy_id": p.ID, "reason": reason},
			func(*Negotiation) {})
	})
	return p, err
}

// Policy returns a licence, or [ErrNotFound].
func (s *Store) Policy(ctx context.Context, id int64) (Policy, error) {
	return single(policyName(id), policyOf)(s.read.Policy(ctx, id))
}

func policyName(id int64) string { return fmt.Sprintf("licence %d", id) }

// Policies lists the licences of a publisher, a client or both, newest first. Zero selects all.
func (s *Store) Policies(ctx context.Context, publisher, client int64, page Page) (List[Policy], error) {
	var conditions where
	if publisher != 0 {
		conditions = append(conditions, condition{"publisher_id = ", publisher})
	}
	if client != 0 {
		conditions = append(conditions, condition{"client_id = ", client})
	}
	return list(ctx, s, page, policyOf, func(p Policy) Cursor { return numberedCursor(p.CreatedAt, p.ID) },
		"policies", conditions)
}
