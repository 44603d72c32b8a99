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
)

// Proposal opens a negotiation with a publisher.
type Proposal struct {
	Publisher int64
	Terms     json.RawMessage
}

// Creation opens one or several negotiations of a client.
type Creation struct {
	Client int64
	// Proposals are one or several, with different publishers. All negotiations are created or none.
	Proposals []Proposal
	// Bundle is the JSON of the bundle that the negotiations belong to. Without one it is empty.
	Bundle json.RawMessage
	// Deadline is the time until which an initiated negotiation waits; State.Deadline has it.
	Deadline time.Time
	// Select returns the index of the strategy version with which a negotiation begins at a time. versions are
	// the publisher's active ones, at least one, in the order of their creation; they have an ID, a publisher
	// and a definition. Its error ends the transaction without a change. If Select is nil, the newest is used.
	Select func(versions []Strategy, now time.Time) (int, error)
	Key    *Key
}

// CreateNegotiations opens negotiations with active strategies of their publishers, lets decide answer
// the first proposals, and writes everything in one transaction. decide gets states with status initiated;
// the proposal is the current offer, and each decision records the client's round. The limits are checked in
// the transaction, which locks the client and the publishers. A bundle counts each of its negotiations.
//
// It returns a [LimitError] if a limit is reached, [ErrNoStrategy], [ErrNotFound] for a client or an active
// publisher that does not exist, [ErrKeyReused], and [ErrInProgress] if the database is busy.
func (s *Store) CreateNegotiations(ctx context.Context, c Creation, decide Decide) (Result, error) {
	if len(c.Proposals) == 0 {
		return Result{}, errors.New("create negotiations: no proposal given")
	}
	if err := validJSON("bundle", c.Bundle); err != nil {
		return Result{}, err
	}
	var publishers []int64
	for _, p := range c.Proposals {
		if len(p.Terms) == 0 || !json.Valid(p.Terms) {
			return Result{}, fmt.Errorf("proposal to publisher %d: invalid JSON", p.Publisher)
		}
		if slices.Contains(publishers, p.Publisher) {
			return Result{}, fmt.Errorf("create negotiations: publisher %d given twice", p.Publisher)
		}
		publishers = append(publishers, p.Publisher)
	}
	return s.keyed(ctx, func(t *transaction, result *Result) (refusal, err error) {
		return nil, t.create(ctx, c, publishers, decide, result)
	})
}

// create is the transaction of CreateNegotiations. Every such transaction locks the client first and then the
// publishers by their ids, so that two never wait for each other.
func (t *transaction) create(
	ctx context.Context, c Creation, publishers []int64, decide Decide, result *Result,
) error {
	client, err := one(ctx, t, fmt.Sprintf("client %d", c.Client), scanClient,
		t.observedLock(`SELECT `+clientColumns+` FROM clients WHERE id = $1`, "FOR NO KEY UPDATE"), c.Client)
	if err != nil {
		return err
	}
	if c.Key != nil {
		// All requests with the key are of one client, whose row is locked.
		if found, err := t.replayed(ctx, c.Key, result); err != nil || found {
			return err
		}
	}
	states, err := t.newStates(ctx, c, client, publishers)
	if err != nil {
		return err
	}
	now := states[0].Now
	if err := t.checkLimits(ctx, client, publishers, now); err != nil {
		return err
	}
	var writes []write
	if len(c.Bundle) > 0 {
		id, err := uuid.NewV7()
		if err != nil {
			return err
		}
		for i := range states {
			states[i].Bundle = id.String()
		}
		writes = append(writes, insert("bundles", "id, client_id, definition, created_at",
			[]any{id.String(), client.ID, string(c.Bundle), micro(now)}))
	}
	outcome, err := decide(slices.Clone(states))
	if err != nil {
		return err
	}
	if len(outcome.Decisions) != len(states) {
		return fmt.Errorf("create negotiations: %d decisions for %d negotiations", len(outcome.Decisions),
			len(states))
	}
	added := changes{by: t.by}
	var rows [][]any
	for i, state := range states {
		n := state.Negotiation
		if err := added.apply(&n, outcome.Decisions[i], "", now); err != nil {
			return err
		}
		rows = append(rows, n.row())
		result.Negotiations = append(result.Negotiations, n)
	}
	result.Answer = outcome.Answer
	writes = append(writes, insert("negotiations", negotiationColumns, rows...))
	writes = append(writes, added.writes()...)
	return t.finish(ctx, append(writes, c.Key.writes(outcome.Answer, now)...))
}

// observedLock is lock for a statement that is executed next.
func (t *transaction) observedLock(statement, clause string) string {
	t.store.observed(statement)
	return t.lock(statement, clause)
}

// inList returns "$first, ..." for a number of arguments.
func inList(first, count int) string {
	var numbers []string
	for i := range count {
		numbers = append(numbers, "$"+strconv.Itoa(first+i))
	}
	return strings.Join(numbers, ", ")
}

func anyOf(ids []int64) (values []any) {
	for _, id := range ids {
		values = append(values, id)
	}
	return values
}

// newStates locks the publishers and returns the states of the new negotiations in the order of the
// proposals.
func (t *transaction) newStates(
	ctx context.Context, c Creation, client Client, publishers []int64,
) ([]State, error) {
	type row struct {
		id       int64
		floor    *int64
		strategy Strategy
	}
	// A publisher without an active strategy has a row with the strategy 0.
	found, err := many(ctx, t, func(scan func(...any) error) (r row, err error) {
		var strategy nullID
		err = scan(&r.id, &r.floor, &strategy, text(&r.strategy.Definition))
		r.strategy.ID, r.strategy.Publisher, r.strategy.Active = int64(strategy), r.id, strategy != 0
		return r, err
	}, t.observedLock(`SELECT p.id, p.published_floor_micro, v.id, v.definition FROM publishers p
		LEFT JOIN negotiation_strategies v ON v.publisher_id = p.id AND v.is_active
		WHERE p.is_active AND p.id IN (`+inList(1, len(publishers))+`) ORDER BY p.id, v.id`,
		"FOR NO KEY UPDATE OF p"), anyOf(publishers)...)
	if err != nil {
		return nil, err
	}
	// The time is read after the locks: creations of a publisher have increasing times.
	now := t.store.now()
	var states []State
	for _, p := range c.Proposals {
		var versions []Strategy
		var floor *int64
		known := false
		for _, r := range found {
			if r.id != p.Publisher {
				continue
			}
			known, floor = true, r.floor
			if r.strategy.Active {
				versions = append(versions, r.strategy)
			}
		}
		switch {
		case !known:
			return nil, fmt.Errorf("publisher %d: %w", p.Publisher, ErrNotFound)
		case len(versions) == 0:
			return nil, fmt.Errorf("publisher %d: %w", p.Publisher, ErrNoStrategy)
		}
		selected := len(versions) - 1
		if c.Select != nil {
			if selected, err = c.Select(versions, now); err != nil {
				return nil, err
			}
		}
		strategy := versions[selected]
		id, err := uuid.NewV7()
		if err != nil {
			return nil, err
		}
		states = append(states, State{
			Negotiation: Negotiation{
				ID: id.String(), Publisher: p.Publisher, Client: client.ID, ClientName: client.Name,
				Anonymous: client.Kind == ClientAnonymous, Strategy: strategy.ID, Status: StatusInitiated,
				InitialProposal: p.Terms, CurrentTerms: p.Terms, OfferBy: ActorClient, InitiatedBy: ActorClient,
				InitiatedAt: now, LastActivityAt: now, Deadline: c.Deadline, CreatedAt: now, UpdatedAt: now,
			},
			Definition: strategy.Definition, Floor: floor, Now: now,
		})
	}
	return states, nil
}

// checkLimits returns a [LimitError] if a limit does not allow the negotiations. A negotiation that has
// passed its deadline is not open, whether it was swept or not.
func (t *transaction) checkLimits(
	ctx context.Context, client Client, publishers []int64, now time.Time,
) error {
	limits := t.store.limits
	hourAgo := now.Add(-time.Hour)
	arguments := append([]any{client.ID, micro(hourAgo), micro(now)}, anyOf(publishers)...)
	// The row of the client has publisher 0.
	type usage struct {
		publisher         int64
		all, anonymous    int
		first, firstAnony time.Time
	}
	used, err := many(ctx, t, func(scan func(...any) error) (u usage, err error) {
		err = scan(&u.publisher, &u.all, &u.anonymous, scanTime{&u.first}, scanTime{&u.firstAnony})
		return u, err
	}, t.observedLock(`SELECT 0, COUNT(*), 0, MIN(created_at), NULL FROM negotiations WHERE client_id = $1 AND
		created_at > $2
		UNION ALL
		SELECT publisher_id, COUNT(*), COUNT(CASE WHEN anonymous THEN 1 END), MIN(deadline_at),
			MIN(CASE WHEN anonymous THEN deadline_at END)
		FROM negotiations WHERE `+open+` AND deadline_at > $3 AND publisher_id IN (`+inList(4, len(publishers))+`)
		GROUP BY publisher_id`, ""), arguments...)
	if err != nil {
		return err
	}
	for _, u := range used {
		switch {
		case u.publisher == 0:
			if u.all+len(publishers) > limits.PerClientHour {
				wait := time.Hour
				if !u.first.IsZero() {
					wait = u.first.Sub(hourAgo)
				}
				return &LimitError{LimitClientHour, limits.PerClientHour, 0, positive(wait)}
			}
		case u.all >= limits.OpenPerPublisher:
			return &LimitError{LimitOpen, limits.OpenPerPublisher, u.publisher, positive(u.first.Sub(now))}
		case client.Kind == ClientAnonymous && u.anonymous >= limits.AnonymousPerPublisher:
			return &LimitError{LimitAnonymous, limits.AnonymousPerPublisher, u.publisher,
				positive(u.firstAnony.Sub(now))}
		}
	}
	return nil
}

// positive returns a time to wait of at least a second.
func positive(wait time.Duration) time.Duration { return max(wait, time.Second) }
