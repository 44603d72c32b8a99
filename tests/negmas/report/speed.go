package main

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
	"github.com/haggle-protocol/haggle/tests/negmas"
)

// values is a scenario as values in memory. Each session makes separate objects from it.
type values struct {
	steps        int
	issues       []bargain.Issue
	parts        [2][]utility.Values
	reservations [2]fixed.Number
}

func valuesOf(setting negmas.Setting, root string) (*values, error) {
	both, err := setting.Read(root)
	if err != nil {
		return nil, err
	}
	v := &values{steps: setting.Steps}
	domain := both[0].Domain()
	for at := range domain.Len() {
		v.issues = append(v.issues, *domain.Issue(at))
	}
	for side, p := range both {
		u, ok := p.Utility().(*utility.Additive)
		if !ok {
			return nil, fmt.Errorf("scenario %s: not additive", setting.Name)
		}
		for at := range domain.Len() {
			v.parts[side] = append(v.parts[side], u.Values(at))
		}
		v.reservations[side] = p.Reservation()
	}
	return v, nil
}

// build returns new preferences, without tables of earlier sessions.
func (v *values) build() (both [2]*bargain.Preferences, err error) {
	domain, err := bargain.NewDomain(v.issues...)
	if err != nil {
		return both, err
	}
	for side := range both {
		u, err := utility.NewAdditive(domain, 0, nil, v.parts[side]...)
		if err != nil {
			return both, err
		}
		if both[side], err = bargain.NewPreferences(domain, u, v.reservations[side]); err != nil {
			return both, err
		}
	}
	return both, nil
}

// speed contains the medians of a session's measured times.
type speed struct {
	// whole is with construction, run without.
	whole, run time.Duration
}

// measure measures a session of the engine.
func (v *values) measure(session negmas.Session) (s speed, err error) {
	var first, second bargain.Strategy = negmas.Find(session.First), negmas.Find(session.Second)
	protocol, kept := mechanism.Alternating{Steps: v.steps}, new(mechanism.Session)
	keep := func(e error) {
		if e != nil {
			err = e
		}
	}
	s.whole = median(func() {
		both, e := v.build()
		keep(e)
		_, e = kept.Run(protocol, 1, mechanism.Party{Strategy: first, Preferences: both[0]},
			mechanism.Party{Strategy: second, Preferences: both[1]})
		keep(e)
	})
	both, e := v.build()
	keep(e)
	if err != nil {
		return s, err
	}
	parties := []mechanism.Party{
		{Strategy: first, Preferences: both[0]}, {Strategy: second, Preferences: both[1]},
	}
	s.run = median(func() {
		_, e := kept.Run(protocol, 1, parties...)
		keep(e)
	})
	return s, err
}

// measurements is the number of measurements whose median counts. All measurements use the same number of
// sessions: the first power of two whose sessions need at least shortest.
const measurements, shortest = 5, 20 * time.Millisecond

func median(session func()) time.Duration {
	count, lasted := 1, time.Duration(0)
	for ; ; count *= 2 {
		if lasted = repeat(session, count); lasted >= shortest {
			break
		}
	}
	list := make([]time.Duration, measurements)
	for i := range list {
		list[i] = repeat(session, count) / time.Duration(count)
	}
	slices.Sort(list)
	return list[measurements/2]
}

func repeat(session func(), count int) time.Duration {
	start := report.ProcessorTime(syscall.RUSAGE_SELF)
	for range count {
		session()
	}
	return report.ProcessorTime(syscall.RUSAGE_SELF) - start
}

// fresh is a curve with no table: the number makes it differ from all others.
type fresh struct {
	curve.Curve
	number int
}

// measureCurves returns a table showing the cost of curve tables. It fills the table cache, so it runs after
// all other measurements.
func measureCurves() string {
	curves := []struct {
		name string
		curve.Curve
	}{
		{"1 - t^4", curve.NegmasBoulware}, {"1 - t", curve.NegmasLinear}, {"1 - t^0.25", curve.NegmasConceder},
	}
	table := report.NewTable("curve", "60 steps, µs", "100 steps, µs", "300 steps, µs")
	number := 0
	for _, known := range curves {
		cells := []string{known.name}
		for _, steps := range []int{60, 100, 300} {
			cells = append(cells, microseconds(median(func() {
				number++
				curve.Tabulate(fresh{known.Curve, number}, steps)
			})))
		}
		table.Row(cells...)
	}
	return table.String()
}
