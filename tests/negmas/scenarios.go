package negmas

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/scenario"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// Setting is a scenario with a deadline. It is stored in the directory named after it.
type Setting struct {
	Name  string
	About string
	// Steps is the number of steps until the deadline.
	Steps int
	// Genius selects GENIUS' XML as the file format. If false, it is NegMAS' YAML.
	Genius bool
	// AsNegmas reports whether the engine orders outcomes with equal utilities, and discounts, as NegMAS does.
	AsNegmas bool
	// draw returns both parties' preferences.
	draw func() ([2]*bargain.Preferences, error)
}

// Settings returns the scenarios without ties: a party's utilities all differ by at least 0.00005, so results
// never depend on how equal utilities are sorted.
func Settings() []Setting {
	return []Setting{
		{Name: "price", About: "101 prices, reservation values .2", Steps: 100, draw: prices(100, 20, 20)},
		{Name: "fine-price", About: "1,001 prices, reservation values .1 and .35", Steps: 100,
			draw: prices(1000, 10, 35)},
		{Name: "apart", About: "101 prices, no agreement is rational for both", Steps: 100,
			draw: prices(100, 60, 55)},
		{Name: "laptop", About: "3 issues, 100 outcomes", Steps: 60, draw: random(7, 30, 25, integers, 5, 4, 5)},
		{Name: "genius", About: "3 issues, 120 outcomes, as GENIUS' XML", Steps: 80, Genius: true,
			draw: random(11, 20, 40, nil, 4, 5, 6)},
		{Name: "service", About: "4 issues, 1,050 outcomes", Steps: 200, draw: ranked(3, 35, 30, 7, 6, 5, 5)},
		{Name: "contract", About: "4 issues, 10,000 outcomes", Steps: 300, draw: ranked(5, 25, 45, 10, 10, 10, 10)},
	}
}

// prices returns a buyer and a seller trading a single good. The reservation values are in percent.
func prices(most int64, buyer, seller int64) func() ([2]*bargain.Preferences, error) {
	return func() (both [2]*bargain.Preferences, err error) {
		domain, err := bargain.NewDomain(bargain.Integer("price", 0, most))
		if err != nil {
			return both, err
		}
		for side, percent := range []int64{buyer, seller} {
			u, err := utility.PriceLine(domain, side == 1)
			if err != nil {
				return both, err
			}
			if both[side], err = bargain.NewPreferences(domain, u, fixed.Ratio(percent, 100)); err != nil {
				return both, err
			}
		}
		return both, nil
	}
}

// random returns parties with random values for each issue.
func random(
	seed uint64, first, second int64, isInteger func(at int) bool, counts ...int,
) func() ([2]*bargain.Preferences, error) {
	return drawn(counts, isInteger, [2]int64{first, second}, func(side int) ([]utility.Values, error) {
		source := bargain.NewRandom(seed, uint64(side))
		values := make([]utility.Values, len(counts))
		for at, count := range counts {
			table := make(utility.Table, count)
			for i := range table {
				table[i] = fixed.Ratio(int64(source.Below(1_000_000)), int64(1_000_000*len(counts)))
			}
			values[at] = table
		}
		return values, nil
	})
}

// ranked returns parties with utilities from 0 to the domain size, divided by this size: an issue that a party
// values more outweighs all less valued issues. The second party orders the issues in reverse, and each party
// ranks an issue's values differently.
func ranked(seed uint64, first, second int64, counts ...int) func() ([2]*bargain.Preferences, error) {
	return drawn(counts, integers, [2]int64{first, second}, func(side int) ([]utility.Values, error) {
		source := bargain.NewRandom(seed, uint64(side))
		size := 1
		for _, count := range counts {
			size *= count
		}
		values, stride := make([]utility.Values, len(counts)), 1
		for place := range counts {
			at := place
			if side == 1 {
				at = len(counts) - 1 - place
			}
			table := make(utility.Table, counts[at])
			for i, rank := range shuffled(source, counts[at]) {
				table[i] = fixed.Ratio(int64(rank*stride), int64(size))
			}
			values[at] = table
			stride *= counts[at]
		}
		return values, nil
	})
}

func shuffled(source *bargain.Random, count int) []int {
	list := make([]int, count)
	for i := range list {
		list[i] = i
	}
	for i := count - 1; i > 0; i-- {
		other := int(source.Below(uint64(i) + 1))
		list[i], list[other] = list[other], list[i]
	}
	return list
}

// integers reports whether an issue uses integers as values: every second issue does. GENIUS supports
// integers only with values on a straight line, so the GENIUS scenario includes none.
func integers(at int) bool { return at%2 == 1 }

// drawn returns parties over issues whose numbers of values are counts. If isInteger is nil, all issues use
// names.
func drawn(
	counts []int, isInteger func(at int) bool, reservations [2]int64,
	values func(side int) ([]utility.Values, error),
) func() ([2]*bargain.Preferences, error) {
	return func() (both [2]*bargain.Preferences, err error) {
		issues := make([]bargain.Issue, len(counts))
		for at, count := range counts {
			name := fmt.Sprintf("issue%d", at+1)
			if isInteger != nil && isInteger(at) {
				issues[at] = bargain.Integer(name, 1, int64(count))
				continue
			}
			names := make([]string, count)
			for i := range names {
				names[i] = fmt.Sprintf("v%d", i+1)
			}
			issues[at] = bargain.Categorical(name, names...)
		}
		domain, err := bargain.NewDomain(issues...)
		if err != nil {
			return both, err
		}
		for side := range both {
			parts, err := values(side)
			if err != nil {
				return both, err
			}
			u, err := utility.NewAdditive(domain, 0, nil, parts...)
			if err != nil {
				return both, err
			}
			if both[side], err = bargain.NewPreferences(domain, u, fixed.Ratio(reservations[side], 100)); err != nil {
				return both, err
			}
		}
		return both, nil
	}
}

// Files returns the paths to domain and profiles within the directory of all scenarios.
func (s Setting) Files(root string) []string {
	extension := ".yml"
	if s.Genius {
		extension = ".xml"
	}
	var paths []string
	for _, name := range []string{"domain", "first", "second"} {
		paths = append(paths, filepath.Join(root, s.Name, name+extension))
	}
	return paths
}

// Write writes the scenario to a directory.
func (s Setting) Write(root string) error {
	both, err := s.draw()
	if err != nil {
		return err
	}
	paths := s.Files(root)
	if err := os.MkdirAll(filepath.Join(root, s.Name), 0o755); err != nil {
		return err
	}
	domain := both[0].Domain()
	for i, path := range paths {
		var data []byte
		switch {
		case i == 0 && s.Genius:
			data, err = scenario.WriteGeniusDomain(s.Name, domain)
		case i == 0:
			data, err = scenario.WriteNegmasDomain(s.Name, domain, scenario.YAML)
		case s.Genius:
			data, err = scenario.WriteGeniusProfile(s.Name, both[i-1])
		default:
			data, err = scenario.WriteNegmasProfile(s.Name, both[i-1], scenario.YAML)
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Read reads the scenario from a directory.
func (s Setting) Read(root string) (both [2]*bargain.Preferences, err error) {
	paths := s.Files(root)
	var domain *bargain.Domain
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return both, err
		}
		switch {
		case i == 0 && s.Genius:
			domain, err = scenario.ReadGeniusDomain(data, scenario.Options{})
		case i == 0:
			domain, err = scenario.ReadNegmasDomain(data, scenario.Options{})
		case s.Genius:
			both[i-1], err = scenario.ReadGeniusProfile(domain, data)
		default:
			both[i-1], err = scenario.ReadNegmasProfile(domain, data)
		}
		if err == nil && i > 0 && s.AsNegmas {
			both[i-1], err = both[i-1].AsNegmas()
		}
		if err != nil {
			return both, fmt.Errorf("%s: %w", path, err)
		}
	}
	return both, nil
}

// Hash returns the scenario files' SHA-256, as hexadecimal digits.
func (s Setting) Hash(root string) (string, error) {
	hash := sha256.New()
	for _, path := range s.Files(root) {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		hash.Write(data)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
