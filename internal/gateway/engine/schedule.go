package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	_ "time/tzdata" // time zones of machines without the database
)

// Hours is an interval of the day, from From on and before Until. If Until is earlier, the interval ends on
// the next day.
type Hours struct {
	From  TimeOfDay `json:"from"`
	Until TimeOfDay `json:"until"`
}

// minutesOfDay is the number of minutes per day.
const minutesOfDay = 24 * 60

// TimeOfDay is a number of minutes after midnight, up to 24:00. The JSON is text such as "09:30".
type TimeOfDay uint16

func (t TimeOfDay) String() string { return fmt.Sprintf("%02d:%02d", t/60, t%60) }

// MarshalText writes the time as HH:MM.
func (t TimeOfDay) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the output of MarshalText.
func (t *TimeOfDay) UnmarshalText(text []byte) error {
	if string(text) == "24:00" {
		*t = minutesOfDay
		return nil
	}
	parsed, err := time.Parse("15:04", string(text))
	if err != nil || len(text) != len("15:04") {
		return fmt.Errorf("%.40q is not a time of day; write it as 09:30", text)
	}
	*t = TimeOfDay(parsed.Hour()*60 + parsed.Minute())
	return nil
}

func (h Hours) check() error {
	if h.From >= minutesOfDay || h.Until > minutesOfDay || h.From == h.Until {
		return fmt.Errorf("%s to %s is not an interval; from is 00:00 to 23:59, until another time up to 24:00",
			h.From, h.Until)
	}
	return nil
}

func (h Hours) contains(minute TimeOfDay) bool {
	if h.From < h.Until {
		return h.From <= minute && minute < h.Until
	}
	return h.From <= minute || minute < h.Until
}

// location returns the time zone. It refuses Local, which differs between machines.
func (s *Strategy) location() (*time.Location, error) {
	if s.TimeZone == "" || s.TimeZone == "Local" || len(s.TimeZone) > 64 {
		return nil, fmt.Errorf("%.40q is not a time zone; use UTC or a name such as Europe/Berlin", s.TimeZone)
	}
	location, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("%.40q is not a time zone; use UTC or a name such as Europe/Berlin", s.TimeZone)
	}
	return location, nil
}

// SelectionStatus is the reason why a strategy is selected, or why it is not.
type SelectionStatus string

// The selection statuses.
const (
	// Selected: new negotiations use the strategy.
	Selected SelectionStatus = "selected"
	// Inactive: the publisher deactivated it.
	Inactive SelectionStatus = "inactive"
	// NotYetValid and NoLongerValid: the time is before valid_from, or not before valid_until.
	NotYetValid   SelectionStatus = "not_yet_valid"
	NoLongerValid SelectionStatus = "no_longer_valid"
	// OutsideHours: the time is valid, but outside all of the hours.
	OutsideHours SelectionStatus = "outside_hours"
	// WiderValidity, WiderHours and Older: the strategy applies, but a strategy with a narrower validity, with
	// fewer hours in a day, or a newer strategy applies, too.
	WiderValidity SelectionStatus = "wider_validity"
	WiderHours    SelectionStatus = "wider_hours"
	Older         SelectionStatus = "older"
)

// SelectionStatuses returns all selection statuses, starting with [Selected].
func SelectionStatuses() []SelectionStatus {
	return []SelectionStatus{
		Selected, Inactive, NotYetValid, NoLongerValid, OutsideHours, WiderValidity, WiderHours, Older,
	}
}

// Select returns the index of the strategy that negotiations use that start at a time, or -1 if none applies.
// The strategies belong to a single publisher, in creation order. Among applicable strategies, Select takes
// the most specific: the narrowest validity, then the fewest hours in a day, then the newest. Validity with a
// single limit is wider than with two limits, and narrower than with none. statuses holds the reason for
// each strategy.
func Select(strategies []*Strategy, now time.Time) (index int, statuses []SelectionStatus) {
	index, statuses = -1, make([]SelectionStatus, len(strategies))
	for at, s := range strategies {
		if statuses[at] = s.selectionStatus(now); statuses[at] != Selected {
			continue
		}
		if index < 0 || strategies[index].wider(s) != "" {
			index = at
		}
	}
	for at, s := range strategies {
		if at != index && statuses[at] == Selected {
			statuses[at] = s.wider(strategies[index])
		}
	}
	return index, statuses
}

// selectionStatus returns the status of the strategy as if it were the only one. With an invalid time zone it
// never applies.
func (s *Strategy) selectionStatus(now time.Time) SelectionStatus {
	location, err := s.location()
	switch {
	case err != nil || !s.IsActive:
		return Inactive
	case now.Before(s.ValidFrom):
		return NotYetValid
	case !s.ValidUntil.IsZero() && !now.Before(s.ValidUntil):
		return NoLongerValid
	case len(s.Hours) == 0:
		return Selected
	}
	local := now.In(location)
	minute := TimeOfDay(local.Hour()*60 + local.Minute())
	for _, hours := range s.Hours {
		if hours.contains(minute) {
			return Selected
		}
	}
	return OutsideHours
}

// wider returns the reason why other, a newer strategy, is more specific than s; empty if it is not.
func (s *Strategy) wider(other *Strategy) SelectionStatus {
	if order := cmp.Compare(s.validity(), other.validity()); order != 0 {
		if order > 0 {
			return WiderValidity
		}
		return ""
	}
	switch order := cmp.Compare(s.minutes(), other.minutes()); {
	case order > 0:
		return WiderHours
	case order < 0:
		return ""
	}
	return Older
}

// Validities without two limits, which are longer than all others.
const (
	oneLimit time.Duration = math.MaxInt64 - 1 + iota
	noLimit
)

// validity returns the length of the validity.
func (s *Strategy) validity() time.Duration {
	switch {
	case s.ValidFrom.IsZero() && s.ValidUntil.IsZero():
		return noLimit
	case s.ValidFrom.IsZero() || s.ValidUntil.IsZero():
		return oneLimit
	}
	return min(s.ValidUntil.Sub(s.ValidFrom), oneLimit-1)
}

// minutes returns how many minutes of the day lie in the hours. Hours can overlap.
func (s *Strategy) minutes() (count int) {
	if len(s.Hours) == 0 {
		return minutesOfDay
	}
	for minute := range TimeOfDay(minutesOfDay) {
		if slices.ContainsFunc(s.Hours, func(h Hours) bool { return h.contains(minute) }) {
			count++
		}
	}
	return count
}
