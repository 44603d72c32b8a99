package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// scheduled returns the strategy of the requirements with a schedule.
func scheduled(t *testing.T, from, until string, hours ...Hours) *Strategy {
	t.Helper()
	s := parsed(t, documentStrategy)
	for text, limit := range map[string]*time.Time{from: &s.ValidFrom, until: &s.ValidUntil} {
		if text != "" {
			at, err := time.Parse(time.DateOnly, text)
			require.NoError(t, err)
			*limit = at
		}
	}
	s.Hours = hours
	return &s
}

// applies reports whether a negotiation that starts at a time can use the strategy.
func applies(s *Strategy, now time.Time) bool { return s.selectionStatus(now) == Selected }

// TestTheMostSpecificStrategyIsSelected runs the rule's examples: noon is 2026-11-22T12:00:00Z.
func TestTheMostSpecificStrategyIsSelected(t *testing.T) {
	const hour = 60
	always := scheduled(t, "", "")
	since := scheduled(t, "2026-01-01", "")
	season := scheduled(t, "2026-11-01", "2027-01-01")
	week := scheduled(t, "2026-11-20", "2026-11-27")
	day := scheduled(t, "", "", Hours{8 * hour, 20 * hour})
	lunch := scheduled(t, "", "", Hours{11 * hour, 13 * hour})
	twice := scheduled(t, "", "", Hours{11 * hour, 13 * hour}, Hours{12 * hour, 13 * hour})
	night := scheduled(t, "", "", Hours{22 * hour, 4 * hour})
	over := scheduled(t, "2026-01-01", "2026-11-22")
	future := scheduled(t, "2026-12-01", "")
	off := scheduled(t, "2026-11-22", "2026-11-23")
	off.IsActive = false
	for name, c := range map[string]struct {
		strategies []*Strategy
		index      int
		statuses   []SelectionStatus
	}{
		"none":                      {nil, -1, []SelectionStatus{}},
		"only one that is not used": {[]*Strategy{night}, -1, []SelectionStatus{OutsideHours}},
		"always": {
			[]*Strategy{always, night, over, future, off}, 0,
			[]SelectionStatus{Selected, OutsideHours, NoLongerValid, NotYetValid, Inactive},
		},
		"the newest of equals":  {[]*Strategy{always, always, always}, 2, []SelectionStatus{Older, Older, Selected}},
		"one limit before none": {[]*Strategy{since, always}, 0, []SelectionStatus{Selected, WiderValidity}},
		"two limits before one": {[]*Strategy{season, since}, 0, []SelectionStatus{Selected, WiderValidity}},
		"the shorter of two": {
			[]*Strategy{season, week, season}, 1, []SelectionStatus{WiderValidity, Selected, WiderValidity},
		},
		"hours before none":       {[]*Strategy{day, always}, 0, []SelectionStatus{Selected, WiderHours}},
		"fewer hours":             {[]*Strategy{lunch, day}, 0, []SelectionStatus{Selected, WiderHours}},
		"common hours count once": {[]*Strategy{twice, lunch}, 1, []SelectionStatus{Older, Selected}},
		"validity before hours":   {[]*Strategy{season, lunch}, 0, []SelectionStatus{Selected, WiderValidity}},
	} {
		index, statuses := Select(c.strategies, noon)
		require.Equal(t, c.index, index, name)
		require.Equal(t, c.statuses, statuses, name)
	}
}

// drawSchedule draws a strategy with schedule limits near noon.
func drawSchedule(t *rapid.T) *Strategy {
	s := NewStrategy()
	s.IsActive = rapid.IntRange(0, 5).Draw(t, "active") > 0
	s.TimeZone = rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "Asia/Kathmandu"}).Draw(t, "zone")
	near := rapid.Int64Range(-30, 30)
	if rapid.Bool().Draw(t, "has from") {
		s.ValidFrom = noon.Add(time.Duration(near.Draw(t, "from")) * time.Hour)
	}
	if rapid.Bool().Draw(t, "has until") {
		s.ValidUntil = noon.Add(time.Duration(near.Draw(t, "until")) * time.Hour)
	}
	for range rapid.IntRange(0, 3).Draw(t, "hours") {
		h := Hours{
			TimeOfDay(rapid.Uint16Range(0, minutesOfDay-1).Draw(t, "hour from")),
			TimeOfDay(rapid.Uint16Range(0, minutesOfDay).Draw(t, "hour until")),
		}
		if h.check() == nil {
			s.Hours = append(s.Hours, h)
		}
	}
	return &s
}

func TestSelectIsTheFirstByTheRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		strategies := rapid.SliceOfN(rapid.Custom(drawSchedule), 0, 6).Draw(t, "strategies")
		now := noon.Add(time.Duration(rapid.Int64Range(-48*60, 48*60).Draw(t, "minutes")) * time.Minute)
		index, statuses := Select(strategies, now)
		require.Len(t, statuses, len(strategies))
		if !slices.ContainsFunc(strategies, func(s *Strategy) bool { return applies(s, now) }) {
			require.Equal(t, -1, index)
			require.NotContains(t, statuses, Selected)
			return
		}
		chosen := strategies[index]
		require.True(t, applies(chosen, now))
		for at, s := range strategies {
			require.Equal(t, at == index, statuses[at] == Selected)
			switch statuses[at] {
			case Inactive, NotYetValid, NoLongerValid, OutsideHours:
				require.False(t, applies(s, now))
			case WiderValidity:
				require.Greater(t, s.validity(), chosen.validity())
			case WiderHours:
				require.Equal(t, s.validity(), chosen.validity())
				require.Greater(t, s.minutes(), chosen.minutes())
			case Older:
				require.Less(t, at, index)
				require.Equal(t, s.validity(), chosen.validity())
				require.Equal(t, s.minutes(), chosen.minutes())
			}
		}
		// A strategy that does not apply changes nothing.
		absent := drawSchedule(t)
		if !applies(absent, now) {
			again, _ := Select(append(slices.Clone(strategies), absent), now)
			require.Equal(t, index, again)
		}
		// The order of creation decides between equals only.
		turned := slices.Clone(strategies)
		slices.Reverse(turned)
		again, _ := Select(turned, now)
		require.Equal(t, chosen.validity(), turned[again].validity())
		require.Equal(t, chosen.minutes(), turned[again].minutes())
	})
}

// TestLimitsOfSchedules checks that a schedule includes the first moment and excludes the end, also across
// midnight and in different time zones.
func TestLimitsOfSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchedule(t)
		s.IsActive, s.Hours = true, nil
		if s.ValidFrom.IsZero() || s.ValidUntil.Sub(s.ValidFrom) < time.Second {
			s.ValidFrom, s.ValidUntil = noon, noon.Add(time.Hour)
		}
		require.False(t, applies(s, s.ValidFrom.Add(-1)))
		require.True(t, applies(s, s.ValidFrom))
		require.True(t, applies(s, s.ValidUntil.Add(-1)))
		require.False(t, applies(s, s.ValidUntil))

		location, err := s.location()
		require.NoError(t, err)
		s.ValidFrom, s.ValidUntil = time.Time{}, time.Time{}
		h := Hours{
			TimeOfDay(rapid.Uint16Range(0, minutesOfDay-1).Draw(t, "from")),
			TimeOfDay(rapid.Uint16Range(0, minutesOfDay-1).Draw(t, "until")),
		}
		if h.check() != nil {
			return
		}
		s.Hours = []Hours{h}
		// No clock of the zones changes on these days.
		local := func(t TimeOfDay) time.Time { return time.Date(2026, 11, 23, 0, int(t), 0, 0, location) }
		require.True(t, applies(s, local(h.From)))
		require.False(t, applies(s, local(h.From).Add(-1)))
		require.False(t, applies(s, local(h.Until)))
		require.True(t, applies(s, local(h.Until).Add(-1)))
		split := *s
		if h.From > h.Until {
			split.Hours = []Hours{{h.From, minutesOfDay}}
			if h.Until > 0 {
				split.Hours = append(split.Hours, Hours{0, h.Until})
			}
		}
		at := local(0).Add(time.Duration(rapid.Int64Range(0, 2*minutesOfDay).Draw(t, "minute")) * time.Minute)
		require.Equal(t, applies(&split, at), applies(s, at), "an interval across midnight is one on each side")
		require.Equal(t, split.minutes(), s.minutes())
	})
}

// TestHoursFollowTheClockOfTheirZone plays the two days per year when a zone's clock changes.
func TestHoursFollowTheClockOfTheirZone(t *testing.T) {
	s := scheduled(t, "", "", Hours{2*60 + 15, 2*60 + 45})
	s.TimeZone = "Europe/Berlin"
	for text, minutes := range map[string]int{"2026-03-28": 30, "2026-03-29": 0, "2026-10-25": 60} {
		day, err := time.Parse(time.DateOnly, text)
		require.NoError(t, err)
		count := 0
		for minute := range 6 * 60 {
			if applies(s, day.Add(time.Duration(minute-120)*time.Minute)) {
				count++
			}
		}
		require.Equal(t, minutes, count, text)
	}
}
