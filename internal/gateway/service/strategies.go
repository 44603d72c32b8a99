package service

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/strictjson"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Strategy is a publisher's strategy version, including hidden limits: it is for the publisher.
type Strategy struct {
	ID int64 `json:"id"`
	engine.Strategy
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func strategyView(v store.Strategy) (Strategy, error) {
	rules, err := rulesOf(v.Definition)
	if err != nil {
		return Strategy{}, err
	}
	rules.PublisherID, rules.Name, rules.Version = v.Publisher, v.Name, uint32(v.Version)
	rules.IsActive = v.Active
	return Strategy{ID: v.ID, Strategy: *rules, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt}, nil
}

// CreateStrategy adds the next version of the strategy with a name. definition is a JSON object as
// [engine.ParseStrategy] reads it; the gateway sets version and the publisher's currency. An active version
// replaces the active version with an equal schedule, and is active beside those with other schedules: see
// [engine.Select]. Negotiations continue with their initial version. idempotencyKey is chosen by the caller;
// empty for none. A repeated request with it adds no further version. It needs the scope strategies:write.
func (s *Service) CreateStrategy(
	ctx context.Context, caller identity.Caller, definition []byte, idempotencyKey string,
) (_ Strategy, err error) {
	defer translate(&err)
	if err := caller.Require(identity.StrategiesWrite); err != nil {
		return Strategy{}, err
	}
	// The strict reader refuses duplicate keys, so that the fields below belong to the strategy.
	given := engine.NewStrategy()
	given.Currency = ""
	err = strictjson.Decode(definition, engine.MaxStrategySize, &given, "min_price_per_fetch_micro",
		"preferred_price_per_fetch_micro", "max_price_per_fetch_micro")
	if err != nil {
		return Strategy{}, err
	}
	if given.PublisherID, err = owner(caller, identity.StrategiesWrite, given.PublisherID); err != nil {
		return Strategy{}, err
	}
	key, err := idempotency(caller.LimitKey(), idempotencyKey, "create-strategy", json.RawMessage(definition))
	if err != nil {
		return Strategy{}, err
	}
	return s.addStrategy(ctx, given, 0, key)
}

// addStrategy validates and adds a version. If active, it replaces the version with the id replaced (0 for
// none) and the active version with the same schedule.
func (s *Service) addStrategy(
	ctx context.Context, given engine.Strategy, replaced int64, key *store.Key,
) (Strategy, error) {
	publisher, err := s.store.Publisher(ctx, given.PublisherID)
	if err != nil {
		return Strategy{}, err
	}
	switch given.Currency {
	case "":
		given.Currency = publisher.Currency
	case publisher.Currency:
	default:
		return Strategy{}, invalid("currency", "%.40q is not the publisher's currency, %s", given.Currency,
			publisher.Currency)
	}
	given.Version = 1 // the store counts the versions
	given.ValidFrom, given.ValidUntil = given.ValidFrom.UTC(), given.ValidUntil.UTC()
	if err := cmp.Or(given.Validate(), s.models.Check(&given)); err != nil {
		return Strategy{}, err
	}
	if given.MinPrice < uint64(publisher.FloorMicro) {
		return Strategy{}, invalid("min_price_per_fetch_micro",
			"%d is below the publisher's published floor of %d", given.MinPrice, publisher.FloorMicro)
	}
	active := given.IsActive
	given.IsActive = true
	text, err := definitionOf(given)
	if err != nil {
		return Strategy{}, err
	}
	added, err := s.store.ReplaceStrategy(ctx, replaced, store.Strategy{
		Publisher: given.PublisherID, Name: given.Name, Definition: text, Active: active,
	}, key)
	if err != nil {
		return Strategy{}, err
	}
	return strategyView(added)
}

// definitionOf returns a strategy's stored JSON. It must not exceed the reader's limit.
func definitionOf(given engine.Strategy) (json.RawMessage, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // it makes a sign of one byte six bytes long
	if err := encoder.Encode(given); err != nil {
		return nil, err
	}
	definition := bytes.TrimSuffix(text.Bytes(), []byte("\n"))
	if len(definition) > engine.MaxStrategySize {
		return nil, invalid("strategy", "%d bytes; use at most %d", len(definition),
			engine.MaxStrategySize)
	}
	return definition, nil
}

// Strategy returns a strategy version. It needs the scope strategies:read.
func (s *Service) Strategy(ctx context.Context, caller identity.Caller, id int64) (_ Strategy, err error) {
	defer translate(&err)
	v, err := s.ownStrategy(ctx, caller, identity.StrategiesRead, id)
	if err != nil {
		return Strategy{}, err
	}
	return strategyView(v)
}

func (s *Service) ownStrategy(
	ctx context.Context, caller identity.Caller, scope identity.Scope, id int64,
) (store.Strategy, error) {
	publisher, err := publisherOf(caller, scope, 0)
	if err != nil {
		return store.Strategy{}, err
	}
	v, err := s.store.Strategy(ctx, id)
	if err == nil && publisher != 0 && publisher != v.Publisher {
		err = notFound("strategy", id)
	}
	return v, err
}

// Strategies lists a publisher's strategy versions, newest first. It needs the scope strategies:read.
func (s *Service) Strategies(
	ctx context.Context, caller identity.Caller, publisher int64, page store.Page,
) (_ store.List[Strategy], err error) {
	defer translate(&err)
	publisher, err = owner(caller, identity.StrategiesRead, publisher)
	if err != nil {
		return store.List[Strategy]{}, err
	}
	return listed(strategyView)(s.store.Strategies(ctx, publisher, page))
}

// UpdateStrategy adds a strategy version: a copy of an existing version with changed fields. The existing
// version stays as it is. change is a JSON object; publisher_id, strategy_name and version cannot change.
// Changing only is_active adds no version: it activates or deactivates the existing version. If active, the
// added version replaces the copied version and the active version with the same schedule. It needs the scope
// strategies:write.
func (s *Service) UpdateStrategy(
	ctx context.Context, caller identity.Caller, id int64, change []byte,
) (_ Strategy, err error) {
	defer translate(&err)
	v, err := s.changedStrategy(ctx, caller, id)
	if err != nil {
		return Strategy{}, err
	}
	old, err := strategyView(v)
	if err != nil {
		return Strategy{}, err
	}
	before, err := json.Marshal(old.Strategy)
	if err != nil {
		return Strategy{}, err
	}
	given := old.Strategy
	// Lists in the change replace the version's lists: the decoder must not reuse their elements.
	given.AllowedPurposes, given.PreferredPurposes = clone(given.AllowedPurposes), clone(given.PreferredPurposes)
	given.DealBreakers, given.Tiers = clone(given.DealBreakers), clone(given.Tiers)
	given.Hours = clone(given.Hours)
	if err := strictjson.Decode(change, engine.MaxStrategySize, &given); err != nil {
		return Strategy{}, err
	}
	// The same time in another time zone is no change.
	err = cmp.Or(toUTC("valid_from", &given.ValidFrom), toUTC("valid_until", &given.ValidUntil))
	if err != nil {
		return Strategy{}, err
	}
	switch {
	case given.PublisherID != v.Publisher:
		return Strategy{}, invalid("publisher_id", "cannot change; create a strategy of the other publisher")
	case given.Name != v.Name:
		return Strategy{}, invalid("strategy_name", "cannot change; create a strategy with the other name")
	case given.Version != uint32(v.Version):
		return Strategy{}, invalid("version", "cannot change; the gateway counts the versions")
	}
	active := given.IsActive
	given.IsActive = old.IsActive
	after, err := json.Marshal(given)
	if err != nil {
		return Strategy{}, err
	}
	if given.IsActive = active; !bytes.Equal(before, after) {
		return s.addStrategy(ctx, given, id, nil)
	}
	if v, err = s.store.SetActive(ctx, v.Publisher, id, active); err != nil {
		return Strategy{}, err
	}
	return strategyView(v)
}

// changedStrategy returns the version that the caller changes. The answer to the change includes all fields.
func (s *Service) changedStrategy(ctx context.Context, caller identity.Caller, id int64) (store.Strategy, error) {
	v, err := s.ownStrategy(ctx, caller, identity.StrategiesWrite, id)
	if err == nil {
		err = caller.Require(identity.StrategiesRead)
	}
	return v, err
}

// DeleteStrategy deletes a strategy version, and returns it. It needs the scopes strategies:write and
// strategies:read. It returns Conflict with [CodeActive] if the version is active, and with [CodeUsed] if a
// negotiation began with it.
func (s *Service) DeleteStrategy(ctx context.Context, caller identity.Caller, id int64) (_ Strategy, err error) {
	defer translate(&err)
	v, err := s.changedStrategy(ctx, caller, id)
	if err != nil {
		return Strategy{}, err
	}
	if v, err = s.store.DeleteStrategy(ctx, v.Publisher, id); err != nil {
		return Strategy{}, err
	}
	return strategyView(v)
}

func clone[T terms.Purpose | engine.DealBreaker | engine.Tier | engine.Hours](list []T) []T {
	return append([]T{}, list...)
}
