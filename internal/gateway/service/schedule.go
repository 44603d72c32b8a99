package service

import (
	"context"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// Schedule shows which of a publisher's active strategies new negotiations use at a time.
type Schedule struct {
	PublisherID int64     `json:"publisher_id"`
	At          time.Time `json:"at"`
	// StrategyID identifies the selected version; 0 if none applies: then the publisher takes no proposals.
	StrategyID int64 `json:"strategy_id,omitempty"`
	// Strategies are all active versions, the oldest first.
	Strategies []ScheduledStrategy `json:"strategies"`
}

// ScheduledStrategy is an active version and the schedule.
type ScheduledStrategy struct {
	ID         int64          `json:"id"`
	Name       string         `json:"strategy_name"`
	Version    uint32         `json:"version"`
	ValidFrom  time.Time      `json:"valid_from,omitzero"`
	ValidUntil time.Time      `json:"valid_until,omitzero"`
	Hours      []engine.Hours `json:"hours"`
	TimeZone   string         `json:"time_zone"`
	// SelectionStatus explains why the version is selected or not.
	SelectionStatus engine.SelectionStatus `json:"standing"`
}

// Schedule returns the selection at a time in the years 1 to 9999. If at is zero, the current time is used.
// It needs the scope strategies:read.
func (s *Service) Schedule(
	ctx context.Context, caller identity.Caller, publisher int64, at time.Time,
) (_ Schedule, err error) {
	defer translate(&err)
	publisher, err = owner(caller, identity.StrategiesRead, publisher)
	if err != nil {
		return Schedule{}, err
	}
	if _, err := s.store.Publisher(ctx, publisher); err != nil {
		return Schedule{}, err
	}
	if at.IsZero() {
		at = s.store.Now()
	}
	if err := toUTC("at", &at); err != nil {
		return Schedule{}, err
	}
	versions, err := s.store.ActiveStrategies(ctx, publisher)
	if err != nil {
		return Schedule{}, err
	}
	rules, err := s.rulesOfAll(versions)
	if err != nil {
		return Schedule{}, err
	}
	selected, statuses := engine.Select(rules, at)
	schedule := Schedule{
		PublisherID: publisher, At: at, Strategies: make([]ScheduledStrategy, 0, len(versions)),
	}
	if selected >= 0 {
		schedule.StrategyID = versions[selected].ID
	}
	for i, v := range versions {
		schedule.Strategies = append(schedule.Strategies, ScheduledStrategy{
			v.ID, v.Name, uint32(v.Version), rules[i].ValidFrom, rules[i].ValidUntil, rules[i].Hours,
			rules[i].TimeZone, statuses[i],
		})
	}
	return schedule, nil
}

func (s *Service) rulesOfAll(versions []store.Strategy) (all []*engine.Strategy, err error) {
	for _, v := range versions {
		rules, err := s.strategies.get(v.ID, func() (*engine.Strategy, error) { return cachedRules(v.Definition) })
		if err != nil {
			return nil, err
		}
		all = append(all, rules)
	}
	return all, nil
}

// selected returns the index of the version that negotiations begin with at a time. hostname names the
// publisher. It returns Conflict if none applies.
func (s *Service) selected(hostname string, versions []store.Strategy, now time.Time) (int, error) {
	rules, err := s.rulesOfAll(versions)
	if err != nil {
		return 0, err
	}
	index, _ := engine.Select(rules, now)
	if index < 0 {
		return 0, conflict(CodeClosed, "publisher %s: no strategy applies now; try again later", hostname)
	}
	return index, nil
}
