package negmas

import (
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// Set is a set of scenarios whose results are recorded in a single file.
type Set struct {
	Name     string
	Settings []Setting
	// File is the results file in testdata.
	File string
}

// Sets returns the three sets of scenarios.
func Sets() []Set {
	return []Set{
		{Name: "without ties", Settings: Settings(), File: "answers.json"},
		{Name: "with ties", Settings: Tied(), File: "tied.json"},
		{Name: "discounted", Settings: Discounted(), File: "discounted.json"},
	}
}

// Tied returns scenarios similar to the ANAC competitions: evaluations in tenths and weights in twentieths,
// so that most outcomes share their utility with others. The engine plays them in NegMAS' order.
func Tied() []Setting {
	tied := func(name string, seed uint64, steps int, genius bool, first, second int64, counts ...int) Setting {
		size := 1
		for _, count := range counts {
			size *= count
		}
		return Setting{
			Name: name, About: fmt.Sprintf("%d issues, %d outcomes", len(counts), size), Steps: steps, Genius: genius,
			AsNegmas: true, draw: tenths(seed, first, second, counts...),
		}
	}
	return []Setting{
		tied("tied-2", 21, 50, false, 30, 30, 8, 8), tied("tied-3", 22, 60, true, 30, 25, 5, 4, 5),
		tied("tied-4", 23, 80, true, 40, 40, 4, 4, 4, 4), tied("tied-4-wide", 24, 100, false, 50, 20, 6, 5, 4, 3),
		tied("tied-5", 25, 100, true, 0, 0, 3, 3, 3, 3, 3), tied("tied-5-wide", 26, 120, true, 50, 50, 2, 3, 4, 5, 6),
	}
}

// Discounted returns scenarios without ties where utilities fall over time. The engine decides by them as
// NegMAS does.
func Discounted() []Setting {
	laptop := random(7, 30, 25, integers, 5, 4, 5)
	discounted := func(discount bargain.Discount) func() ([2]*bargain.Preferences, error) {
		return func() (both [2]*bargain.Preferences, err error) {
			if both, err = laptop(); err != nil {
				return both, err
			}
			for side, p := range both {
				both[side], err = bargain.NewDiscounted(p.Domain(), p.Utility(), p.Reservation(), discount)
				if err != nil {
					return both, err
				}
			}
			return both, nil
		}
	}
	return []Setting{
		{Name: "discounted-whole", About: "the outcomes of laptop; a factor of 0.99 for each step", Steps: 60,
			AsNegmas: true, draw: discounted(bargain.Discount{Factor: fixed.One / 100 * 99, PerStep: true})},
		{Name: "discounted-fast", About: "the same; a factor of 0.5 until the deadline", Steps: 60,
			AsNegmas: true, draw: discounted(bargain.Discount{Factor: fixed.One / 2})},
		{Name: "discounted-cost", About: "the same; a cost of 0.004 for each step", Steps: 60,
			AsNegmas: true, draw: discounted(bargain.Discount{Cost: fixed.One / 250, PerStep: true})},
		{Name: "discounted-kept", About: "a factor of 0.99, and constant reservation values", Steps: 60,
			AsNegmas: true, draw: discounted(bargain.Discount{Factor: fixed.One / 100 * 99, PerStep: true, KeepReservation: true})},
	}
}

// tenths returns parties using random weights in twentieths, and random evaluations in tenths up to 1.
func tenths(seed uint64, first, second int64, counts ...int) func() ([2]*bargain.Preferences, error) {
	return drawn(counts, nil, [2]int64{first, second}, func(side int) ([]utility.Values, error) {
		source := bargain.NewRandom(seed, uint64(side))
		weights := make([]int64, len(counts))
		for range 20 {
			weights[source.Below(uint64(len(counts)))]++
		}
		values := make([]utility.Values, len(counts))
		for at, count := range counts {
			table := make(utility.Table, count)
			for index := range table {
				table[index] = fixed.Ratio(weights[at]*int64(source.Below(11)), 200)
			}
			table[source.Below(uint64(count))] = fixed.Ratio(weights[at], 20)
			values[at] = table
		}
		return values, nil
	})
}
