package engine

import (
	"fmt"
	"time"

	_ "time/tzdata" // time zones of machines without the database
)

// Hours is an interval of the day, from From on and before Until. If Until is earlier, the interval ends on
// the next day.
type Hours struct {
	From  TimeOfDay `json:"from"`
	Until TimeOfDay `json:"until"`
}

// minutesOfDay is the number of minutes of a day.
const minutesOfDay = 24 * 60

// TimeOfDay is a number of minutes after midnight, up to 24:00. Its JSON is a text such as "09:30".
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

// Applies reports whether a negotiation that starts at a time uses the strategy. A negotiation keeps the
// version with which it starts. An invalid strategy never applies.
func (s *Strategy) Applies(now time.Time) bool {
	location, err := s.location()
	if err != nil || !s.IsActive || now.Before(s.ValidFrom) ||
		!s.ValidUntil.IsZero() && !now.Before(s.ValidUntil) {
		return false
	}
	local := now.In(location)
	minute := TimeOfDay(local.Hour()*60 + local.Minute())
	for _, hours := range s.Hours {
		if hours.contains(minute) {
			return true
		}
	}
	return len(s.Hours) == 0
}

// Select returns the index of the strategy with the highest version that applies at a time, and false if none
// applies.
func Select(strategies []Strategy, now time.Time) (index int, ok bool) {
	for at := range strategies {
		if strategies[at].Applies(now) && (!ok || strategies[at].Version > strategies[index].Version) {
			index, ok = at, true
		}
	}
	return index, ok
}
