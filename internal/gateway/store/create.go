package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// Proposal opens a negotiation with a publisher.
type Proposal struct {
	Publisher int64
	Terms     json.RawMessage
}

// Creation opens one or several negotiations for a client.
type Creation struct {
	Client int64
	// Proposals holds at least one proposal, each with a different publisher. All negotiations are created or
	// none.
	Proposals []Proposal
	// Bundle is the JSON bundle that the negotiations belong to; empty if none.
	Bundle json.RawMessage
	// Deadline ends the waiting of initiated negotiations; State.Deadline holds it.
	Deadline time.Time
	// Recall selects the client's earlier proposals that the states have.
	Recall Recall
	Key    *Key
}

// BeginCreation prepares negotiations with the publishers' active strategies, so that the caller can answer
// the first proposals. The states have status initiated; the proposal is the current offer, and each decision
// records the client's round. The limits are checked in the transaction, which locks the client and the
// publishers. A bundle counts as a single proposal.
//
// It returns a [LimitError] if a limit is reached, [ErrNoStrategy], [ErrNotFound] for a client or an active
// publisher that does not exist, [ErrSuspended], [ErrKeyReused], and [ErrInProgress] if the database is busy.
func (s *Store) BeginCreation(ctx context.Context, c Creation) (*Unit, error) {
	if len(c.Proposals) == 0 {
		return nil, errors.New("create negotiations: no proposal given")
	}
	if err := validJSON("bundle", c.Bundle); err != nil {
		return nil, err
	}
	var publishers []int64
	for _, p := range c.Proposals {
		if len(p.Terms) == 0 || !json.Valid(p.Terms) {
			return nil, fmt.Errorf("proposal to publisher %d: invalid JSON", p.Publisher)
		}
		if slices.Contains(publishers, p.Publisher) {
			return nil, fmt.Errorf("create negotiations: publisher %d given twice", p.Publisher)
		}
		publishers = append(publishers, p.Publisher)
	}
	return s.beginUnit(ctx, c.Key, func(u *Unit) error { return u.open(ctx, c, publishers) })
}

// open prepares negotiations. Every such transaction locks the client first and then the publishers by their
// ids, so that they never deadlock.
func (u *Unit) open(ctx context.Context, c Creation, publishers []int64) error {
	u.opening = true
	t := u.t
	client, err := single(clientName(c.Client), clientOf)(t.LockClient(ctx, c.Client))
	if err == nil {
		err = client.Permitted()
	}
	if err != nil {
		return err
	}
	// All requests with the key come from the same client, and the client row is locked.
	if found, err := replay(ctx, t, c.Key, &u.result); err != nil || found {
		return err
	}
	states, err := t.newStates(ctx, c, client, publishers)
	if err != nil {
		return err
	}
	now := states[0].Now
	if err := t.checkLimits(ctx, client, publishers, now); err != nil {
		return err
	}
	u.States = states
	if len(c.Bundle) > 0 {
		id, err := uuid.NewV7()
		if err != nil {
			return err
		}
		for i := range states {
			states[i].Bundle = id.String()
		}
		t.writes = writesOf(queries.Querier.AddBundle, queries.AddBundleParams{
			ID: id.String(), ClientID: client.ID, Definition: queries.JSON(c.Bundle), CreatedAt: queries.NullTime(now),
		})
	}
	return c.Recall.recall(ctx, t, states)
}

// inList returns "$first, ..." for a number of arguments.
func inList(first, count int) string {
	var numbers []string
	for i := range count {
		numbers = append(numbers, "$"+strconv.Itoa(first+i))
	}
	return strings.Join(numbers, ", ")
}

func anyOf[ID int64 | string](ids []ID) (values []any) {
	for _, id := range ids {
		values = append(values, id)
	}
	return values
}

// newStates locks the publishers and returns the new negotiations' states in proposal order.
func (t *transaction) newStates(
	ctx context.Context, c Creation, client Client, publishers []int64,
) ([]State, error) {
	// A publisher lacking an active strategy yields a row with strategy 0.
	type row struct {
		Publisher  int64
		Floor      queries.NullNumber
		Strategy   queries.NullNumber
		Definition queries.JSON
	}
	// A statement that waits for a lock reads other tables as they were before: the strategies would be old.
	if lock := t.store.Dialect.lock("FOR NO KEY UPDATE"); lock != "" {
		err := t.each(ctx, func(scan) error { return nil },
			`SELECT id FROM publishers WHERE id IN (`+inList(1, len(publishers))+`) ORDER BY id`+lock, anyOf(publishers)...)
		if err != nil {
			return nil, err
		}
	}
	found, err := collect[row](ctx, t, `SELECT p.id AS publisher, p.published_floor_micro AS floor,
		v.id AS strategy, v.definition FROM publishers p
		LEFT JOIN negotiation_strategies v ON v.publisher_id = p.id AND v.is_active
		WHERE p.is_active AND p.id IN (`+inList(1, len(publishers))+`) ORDER BY p.id, v.id`, anyOf(publishers)...)
	if err != nil {
		return nil, err
	}
	// The time is read after the locks: a publisher's creations have increasing times.
	now := t.store.now()
	var states []State
	for _, p := range c.Proposals {
		var versions []Strategy
		var floor queries.NullNumber
		known := false
		for _, r := range found {
			if r.Publisher != p.Publisher {
				continue
			}
			known, floor = true, r.Floor
			if r.Strategy != 0 {
				versions = append(versions, Strategy{
					ID: int64(r.Strategy), Publisher: r.Publisher, Definition: json.RawMessage(r.Definition), Active: true,
				})
			}
		}
		switch {
		case !known:
			return nil, fmt.Errorf("publisher %d: %w", p.Publisher, ErrNotFound)
		case len(versions) == 0:
			return nil, fmt.Errorf("publisher %d: %w", p.Publisher, ErrNoStrategy)
		}
		strategy := versions[len(versions)-1]
		id, err := uuid.NewV7()
		if err != nil {
			return nil, err
		}
		states = append(states, State{
			Negotiation: Negotiation{
				ID: id.String(), Publisher: p.Publisher, Client: client.ID, ClientName: client.Name,
				Anonymous: client.Kind == ClientAnonymous, Strategy: strategy.ID, Status: engine.Initiated,
				InitialProposal: p.Terms, CurrentTerms: p.Terms, OfferBy: engine.PartyClient,
				InitiatedBy: engine.PartyClient, InitiatedAt: now, LastActivityAt: now, Deadline: c.Deadline,
				CreatedAt: now, UpdatedAt: now,
			},
			Definition: strategy.Definition, Floor: int64(floor), Versions: versions, Now: now,
		})
	}
	return states, nil
}

// checkLimits returns a [LimitError] if a limit does not allow the negotiations. A negotiation past the
// deadline is not open, swept or not.
func (t *transaction) checkLimits(
	ctx context.Context, client Client, publishers []int64, now time.Time,
) error {
	limits := t.store.limits
	hourAgo := now.Add(-time.Hour)
	anonymous := client.Kind == ClientAnonymous
	arguments := append([]any{client.ID, hourAgo.UnixMicro(), now.UnixMicro(), anonymous}, anyOf(publishers)...)
	// The row of publisher 0 counts the client's proposals of the last hour in Used; First is the oldest
	// creation time. Other rows count a publisher's open negotiations: in Used those that share places with
	// the client's, in Own the client's own. First and FirstOwn are their earliest deadlines.
	type usage struct {
		Publisher       int64
		Used, Own       int
		First, FirstOwn queries.NullTime
	}
	// An anonymous client's agreement never becomes a license, so it counts while waiting for approval, too.
	const shared = `anonymous = $4 AND (anonymous OR status <> 'awaiting_approval')`
	usages, err := collect[usage](ctx, t, `SELECT 0 AS publisher, COUNT(DISTINCT COALESCE(bundle_id, id)) AS used, 0 AS own,
			MIN(created_at) AS first, NULL AS first_own
		FROM negotiations WHERE client_id = $1 AND created_at > $2
		UNION ALL
		SELECT publisher_id, COUNT(CASE WHEN `+shared+` THEN 1 END), COUNT(CASE WHEN client_id = $1 THEN 1 END),
			MIN(CASE WHEN `+shared+` THEN deadline_at END), MIN(CASE WHEN client_id = $1 THEN deadline_at END)
		FROM negotiations WHERE `+open+` AND deadline_at > $3 AND publisher_id IN (`+inList(5, len(publishers))+`)
		GROUP BY publisher_id`, arguments...)
	if err != nil {
		return err
	}
	kind, places := LimitOpen, limits.OpenPerPublisher
	if anonymous {
		kind, places = LimitAnonymous, limits.AnonymousPerPublisher
	}
	for _, u := range usages {
		switch {
		case u.Publisher == 0:
			if u.Used >= limits.PerClientHour {
				return &LimitError{LimitClientHour, limits.PerClientHour, 0, positive(time.Time(u.First).Sub(hourAgo))}
			}
		case u.Own >= limits.OpenPerClient:
			return &LimitError{LimitOpenClient, limits.OpenPerClient, u.Publisher,
				positive(time.Time(u.FirstOwn).Sub(now))}
		case u.Used >= places:
			return &LimitError{kind, places, u.Publisher, positive(time.Time(u.First).Sub(now))}
		}
	}
	return nil
}

// positive rounds a waiting time up to at least a second.
func positive(wait time.Duration) time.Duration { return max(wait, time.Second) }
