package store

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Strategy is a version of a publisher's strategy. A version never changes, except that it can be active or
// not. Several versions of a publisher can be active, each with another schedule: the validity, hours and
// time zone of its definition.
type Strategy struct {
	// ID and Version are set by the store. Versions of a name count from 1.
	ID        int64
	Publisher int64
	Name      string
	Version   int
	// Definition is the strategy in JSON. Its fields with the name of a column of negotiation_strategies are
	// copied there.
	Definition           json.RawMessage
	Active               bool
	CreatedAt, UpdatedAt time.Time
}

// columns are the parts of a definition that have columns of their own, with the names and types of these.
type columns struct {
	Style          *string         `json:"negotiation_style"`
	MinPrice       *int64          `json:"min_price_per_fetch_micro"`
	PreferredPrice *int64          `json:"preferred_price_per_fetch_micro"`
	MaxPrice       *int64          `json:"max_price_per_fetch_micro"`
	MinTTL         *int64          `json:"min_token_ttl_seconds"`
	PreferredTTL   *int64          `json:"preferred_token_ttl_seconds"`
	MaxTTL         *int64          `json:"max_token_ttl_seconds"`
	MinRPS         *int64          `json:"min_burst_rps"`
	PreferredRPS   *int64          `json:"preferred_burst_rps"`
	MaxRPS         *int64          `json:"max_burst_rps"`
	Allowed        json.RawMessage `json:"allowed_purposes"`
	Preferred      json.RawMessage `json:"preferred_purposes"`
	DealBreakers   json.RawMessage `json:"deal_breakers"`
	MaxRounds      *int64          `json:"max_rounds"`
	Threshold      *float64        `json:"auto_accept_threshold"`
	Timeout        *int64          `json:"timeout_seconds"`
	Provider       *string         `json:"llm_provider"`
	Model          *string         `json:"llm_model"`
	Temperature    *float64        `json:"llm_temperature"`
	Prompt         *string         `json:"system_prompt"`
}

// definedColumns are the names of the columns that repeat parts of a definition.
var definedColumns = func() (names []string) {
	for i := range reflect.TypeFor[columns]().NumField() {
		names = append(names, reflect.TypeFor[columns]().Field(i).Tag.Get("json"))
	}
	return names
}()

// definedValues returns the values of the definedColumns.
func definedValues(definition json.RawMessage) (values []any, err error) {
	var c columns
	if err := json.Unmarshal(definition, &c); err != nil {
		return nil, fmt.Errorf("strategy definition: %w", err)
	}
	parts := reflect.ValueOf(c)
	for i := range parts.NumField() {
		value := parts.Field(i).Interface()
		if document, is := value.(json.RawMessage); is {
			value = orNull(document)
		}
		values = append(values, value)
	}
	return values, nil
}

const strategyColumns = `id, publisher_id, strategy_name, version, definition, is_active, created_at,
	updated_at`

func scanStrategy(scan func(...any) error) (v Strategy, err error) {
	err = scan(&v.ID, &v.Publisher, &v.Name, &v.Version, text(&v.Definition), &v.Active, scanTime{&v.CreatedAt},
		scanTime{&v.UpdatedAt})
	return v, err
}

// MaxActive is the number of versions of a publisher that can be active.
const MaxActive = 16

// AddStrategy adds the next version of a strategy: the first one if the publisher has none of the name. If it
// is active, the publisher's other version with the same schedule is deactivated. Negotiations continue with
// the version that they began with. A repetition of a request with an idempotency key returns the version of
// the first one. It returns [ErrNotFound] if there is no such publisher, [ErrActiveLimit] if [MaxActive] other
// versions are active, and [ErrKeyReused].
func (s *Store) AddStrategy(ctx context.Context, v Strategy, key *Key) (Strategy, error) {
	return s.ReplaceStrategy(ctx, 0, v, key)
}

// ReplaceStrategy is AddStrategy, and deactivates another version of the publisher if the new one is active.
func (s *Store) ReplaceStrategy(ctx context.Context, replaced int64, v Strategy, key *Key) (Strategy, error) {
	values, err := definedValues(v.Definition)
	if err != nil {
		return Strategy{}, err
	}
	now := s.now()
	added, _, err := addOnce(ctx, s, key, func(t *transaction) (added Strategy, err error) {
		if err := t.lockPublisher(ctx, v.Publisher); err != nil {
			return added, err
		}
		var version int
		if err := t.row(ctx, `SELECT COALESCE(MAX(version), 0) + 1 FROM negotiation_strategies
			WHERE publisher_id = $1 AND strategy_name = $2`, v.Publisher, v.Name).Scan(&version); err != nil {
			return added, err
		}
		if v.Active {
			if err := t.makeRoom(ctx, v, replaced, now); err != nil {
				return added, err
			}
		}
		names := "publisher_id, strategy_name, version, definition, is_active, created_at, updated_at"
		for _, name := range definedColumns {
			names += ", " + name
		}
		row := append([]any{v.Publisher, v.Name, version, string(v.Definition), v.Active, micro(now), micro(now)},
			values...)
		w := insert("negotiation_strategies", names, row)
		return one(ctx, t, "strategy "+v.Name, scanStrategy, w.statement+" RETURNING "+strategyColumns,
			w.arguments...)
	})
	return added, err
}

// scheduleOf returns the schedule of a definition as text. Without hours the time zone has no effect.
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

// makeRoom deactivates the versions that a version replaces when it becomes active: one that is named, and
// that with the same schedule.
func (t *transaction) makeRoom(ctx context.Context, v Strategy, replaced int64, now time.Time) error {
	schedule, err := scheduleOf(v.Definition)
	if err != nil {
		return err
	}
	active, err := many(ctx, t, scanStrategy, activeStrategies, v.Publisher)
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
	return t.all(ctx, write{`UPDATE negotiation_strategies SET is_active = $2, updated_at = $3 WHERE id = $1`,
		[]any{id, active, micro(now)}})
}

// lockPublisher lets one transaction at a time change a publisher's strategies.
func (t *transaction) lockPublisher(ctx context.Context, publisher int64) error {
	_, err := one(ctx, t, fmt.Sprintf("publisher %d", publisher), scanID,
		t.lock(`SELECT id FROM publishers WHERE id = $1`, "FOR NO KEY UPDATE"), publisher)
	return err
}

func scanID(scan func(...any) error) (id int64, err error) {
	err = scan(&id)
	return id, err
}

// SetActive makes a version of a publisher active or not. If it becomes active, the version with the same
// schedule is deactivated. It returns [ErrNotFound] if the publisher has no version with the id, and
// [ErrActiveLimit] as AddStrategy. New negotiations with a publisher that has no active version return
// [ErrNoStrategy].
func (s *Store) SetActive(ctx context.Context, publisher, id int64, active bool) (v Strategy, err error) {
	now := s.now()
	err = s.transact(ctx, func(t *transaction) error {
		if err := t.lockPublisher(ctx, publisher); err != nil {
			return err
		}
		v, err = one(ctx, t, fmt.Sprintf("strategy %d", id), scanStrategy, `SELECT `+strategyColumns+`
			FROM negotiation_strategies WHERE publisher_id = $1 AND id = $2`, publisher, id)
		if err != nil || v.Active == active {
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

// Strategy returns a version, or [ErrNotFound].
func (s *Store) Strategy(ctx context.Context, id int64) (Strategy, error) {
	return one(ctx, s.reader, fmt.Sprintf("strategy %d", id), scanStrategy,
		`SELECT `+strategyColumns+` FROM negotiation_strategies WHERE id = $1`, id)
}

// activeStrategies selects the active versions of a publisher, the oldest first.
const activeStrategies = `SELECT ` + strategyColumns + ` FROM negotiation_strategies
	WHERE publisher_id = $1 AND is_active ORDER BY id`

// ActiveStrategies returns the active versions of a publisher in the order of their creation.
func (s *Store) ActiveStrategies(ctx context.Context, publisher int64) ([]Strategy, error) {
	return many(ctx, s.reader, scanStrategy, activeStrategies, publisher)
}

// Strategies lists the versions of a publisher, newest first.
func (s *Store) Strategies(ctx context.Context, publisher int64, page Page) (List[Strategy], error) {
	return list(ctx, s, page, scanStrategy, func(v Strategy) Cursor { return numberedCursor(v.CreatedAt, v.ID) },
		`SELECT `+strategyColumns+` FROM negotiation_strategies`, where{{"publisher_id = ", publisher}})
}
