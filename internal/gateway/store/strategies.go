package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// Strategy is a publisher's strategy version. It never changes, except that it can be active or not. A
// publisher can have several active versions, each with a different schedule: the definition's validity,
// hours and time zone.
type Strategy struct {
	// ID and Version are set by the store. Versions count from 1 per name.
	ID        int64
	Publisher int64
	Name      string
	Version   int
	// Definition is the JSON strategy. Fields named like a column of negotiation_strategies are copied there.
	Definition           json.RawMessage
	Active               bool
	CreatedAt, UpdatedAt time.Time
}

func strategyOf(row queries.StrategyRow) Strategy {
	return Strategy{
		ID: row.ID, Publisher: row.PublisherID, Name: row.StrategyName, Version: int(row.Version),
		Definition: json.RawMessage(row.Definition), Active: row.IsActive, CreatedAt: time.Time(row.CreatedAt),
		UpdatedAt: time.Time(row.UpdatedAt),
	}
}

// MaxActive limits the active versions per publisher.
const MaxActive = 16

// AddStrategy adds the next strategy version: version 1 if the publisher has not used the name. If it is
// active, the publisher's other version with an equal schedule is deactivated. Negotiations continue with
// their initial version. Repeating a request with an idempotency key returns the first request's version. It
// returns [ErrNotFound] if there is no such publisher, [ErrActiveLimit] if [MaxActive] other versions are
// active, and [ErrKeyReused].
func (s *Store) AddStrategy(ctx context.Context, v Strategy, key *Key) (Strategy, error) {
	return s.ReplaceStrategy(ctx, 0, v, key)
}

// ReplaceStrategy is AddStrategy, and deactivates another of the publisher's versions if v is active.
func (s *Store) ReplaceStrategy(ctx context.Context, replaced int64, v Strategy, key *Key) (Strategy, error) {
	// Columns that repeat part of the definition are named after that part.
	var row queries.AddStrategyParams
	if err := json.Unmarshal(v.Definition, &row); err != nil {
		return Strategy{}, fmt.Errorf("strategy definition: %w", err)
	}
	now := s.now()
	added, _, err := addOnce(ctx, s, key, func(t *transaction) (added Strategy, err error) {
		if err := t.lockPublisher(ctx, v.Publisher); err != nil {
			return added, err
		}
		if row.Version, err = t.NextVersion(ctx, v.Publisher, v.Name); err != nil {
			return added, err
		}
		if v.Active {
			if err := t.makeRoom(ctx, v, replaced, now); err != nil {
				return added, err
			}
		}
		row.PublisherID, row.StrategyName, row.Definition = v.Publisher, v.Name, string(v.Definition)
		row.IsActive, row.CreatedAt, row.UpdatedAt = v.Active, queries.NullTime(now), queries.NullTime(now)
		return single("strategy "+v.Name, func(added queries.AddStrategyRow) Strategy {
			return strategyOf(queries.StrategyRow(added))
		})(t.AddStrategy(ctx, row))
	})
	return added, err
}

// scheduleOf returns a definition's schedule as text. The time zone matters only with hours.
func scheduleOf(definition json.RawMessage) (string, error) {
	var schedule struct {
		From  time.Time           `json:"valid_from"`
		Until time.Time           `json:"valid_until"`
		Hours []map[string]string `json:"hours"`
		Zone  string              `json:"time_zone"`
	}
	if err := json.Unmarshal(definition, &schedule); err != nil {
		return "", fmt.Errorf("strategy definition: %w", err)
	}
	if len(schedule.Hours) == 0 {
		schedule.Zone = ""
	}
	return fmt.Sprint(schedule.From.UTC(), schedule.Until.UTC(), schedule.Hours, schedule.Zone), nil
}

// makeRoom deactivates the versions replaced by an activated version: the named version, and the version with
// an equal schedule.
func (t *transaction) makeRoom(ctx context.Context, v Strategy, replaced int64, now time.Time) error {
	schedule, err := scheduleOf(v.Definition)
	if err != nil {
		return err
	}
	active, err := activeStrategies(ctx, t, v.Publisher)
	if err != nil {
		return err
	}
	others := 0
	for _, other := range active {
		if other.ID == v.ID {
			continue
		}
		same, err := scheduleOf(other.Definition)
		switch {
		case err != nil:
			return err
		case same != schedule && other.ID != replaced:
			others++
			continue
		}
		if err := t.setActive(ctx, other.ID, false, now); err != nil {
			return err
		}
	}
	if others >= MaxActive {
		return fmt.Errorf("publisher %d: %w", v.Publisher, ErrActiveLimit)
	}
	return nil
}

func (t *transaction) setActive(ctx context.Context, id int64, active bool, now time.Time) error {
	return t.SetActive(ctx, queries.SetActiveParams{
		ID: id, IsActive: active, UpdatedAt: queries.NullTime(now),
	})
}

// lockPublisher lets a single transaction at a time change a publisher's strategies.
func (t *transaction) lockPublisher(ctx context.Context, publisher int64) error {
	_, err := t.LockPublisher(ctx, publisher)
	return named(publisherName(publisher), err)
}

// SetActive activates or deactivates a publisher's strategy version. Activation deactivates the version with
// an equal schedule. It returns [ErrNotFound] if the id is not the publisher's, and [ErrActiveLimit] as
// AddStrategy. New negotiations with a publisher lacking active versions return [ErrNoStrategy].
func (s *Store) SetActive(ctx context.Context, publisher, id int64, active bool) (v Strategy, err error) {
	now := s.now()
	err = s.transact(ctx, func(t *transaction) error {
		if err := t.lockPublisher(ctx, publisher); err != nil {
			return err
		}
		if v, err = t.strategyOfPublisher(ctx, publisher, id); err != nil || v.Active == active {
			return err
		}
		if active {
			if err := t.makeRoom(ctx, v, 0, now); err != nil {
				return err
			}
		}
		v.Active, v.UpdatedAt = active, now
		return t.setActive(ctx, id, active, now)
	})
	return v, err
}

// DeleteStrategy deletes a publisher's strategy version and returns it. It returns [ErrNotFound] if the id is
// not the publisher's, [ErrStrategyActive] if new negotiations can use the version, and [ErrStrategyUsed] if
// a negotiation, open or ended, began with it: it is part of the negotiation's record. If the version is the
// newest for the name, the number is reused.
func (s *Store) DeleteStrategy(ctx context.Context, publisher, id int64) (v Strategy, err error) {
	err = s.transact(ctx, func(t *transaction) error {
		// A negotiation begins under the same lock.
		if err := t.lockPublisher(ctx, publisher); err != nil {
			return err
		}
		if v, err = t.strategyOfPublisher(ctx, publisher, id); err != nil {
			return err
		}
		if v.Active {
			return fmt.Errorf("%s: %w", strategyName(id), ErrStrategyActive)
		}
		uses, err := t.StrategyUses(ctx, id)
		if err != nil {
			return err
		}
		if uses > 0 {
			return fmt.Errorf("%s: %w (%d)", strategyName(id), ErrStrategyUsed, uses)
		}
		return t.DeleteStrategy(ctx, id)
	})
	return v, err
}

func (t *transaction) strategyOfPublisher(ctx context.Context, publisher, id int64) (Strategy, error) {
	return single(strategyName(id), func(row queries.StrategyOfPublisherRow) Strategy {
		return strategyOf(queries.StrategyRow(row))
	})(t.StrategyOfPublisher(ctx, publisher, id))
}

// Strategy returns a strategy version, or [ErrNotFound].
func (s *Store) Strategy(ctx context.Context, id int64) (Strategy, error) {
	return single(strategyName(id), strategyOf)(s.read.Strategy(ctx, id))
}

func strategyName(id int64) string { return fmt.Sprintf("strategy %d", id) }

// ActiveStrategies returns a publisher's active versions in creation order.
func (s *Store) ActiveStrategies(ctx context.Context, publisher int64) ([]Strategy, error) {
	return activeStrategies(ctx, s.read, publisher)
}

func activeStrategies(ctx context.Context, run queries.Querier, publisher int64) ([]Strategy, error) {
	return several(func(row queries.ActiveStrategiesRow) Strategy {
		return strategyOf(queries.StrategyRow(row))
	})(run.ActiveStrategies(ctx, publisher))
}

// Strategies lists a publisher's strategy versions, newest first.
func (s *Store) Strategies(ctx context.Context, publisher int64, page Page) (List[Strategy], error) {
	return list(ctx, s, page, strategyOf, func(v Strategy) Cursor { return numberedCursor(v.CreatedAt, v.ID) },
		"negotiation_strategies", where{{"publisher_id = ", publisher}})
}
