package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

// checkDistinct refuses lists that contain a scenario twice. Duplicates would count as independent
// observations, and narrow the confidence intervals too much. Two scenarios are equal if they use the same
// name, or if their files contain the same domain and profiles, in any profile order: each strategy plays
// both.
func checkDistinct(source tournament.Join) error {
	named, generators := map[string]bool{}, map[generator]int{}
	var read tournament.List
	for _, part := range source {
		switch part := part.(type) {
		case tournament.List:
			read = append(read, part...)
		default:
			made := generatorOf(part)
			if generators[made] > 0 {
				return fmt.Errorf("%w: scenarios %q are listed twice: use one larger number", ErrInput, made.kind)
			}
			generators[made] = part.Len()
		}
	}
	for at, s := range read {
		made, number, ok := parseGenerated(s.Name)
		if ok && number <= generators[made] {
			return fmt.Errorf("%w: the folder %q has the name of a generated scenario: rename it", ErrInput, s.Name)
		}
		if named[s.Name] {
			return fmt.Errorf("%w: two scenarios have the name %q: rename a folder, or leave one out",
				ErrInput, s.Name)
		}
		named[s.Name] = true
		for _, other := range read[:at] {
			if haveSameContent(s, other) {
				return fmt.Errorf("%w: the scenarios %q and %q have the same content: leave one out",
					ErrInput, other.Name, s.Name)
			}
		}
	}
	return nil
}

// sameUtility is the greatest difference of equal utilities: the formats round them differently.
const sameUtility = fixed.One / 1_000_000

// haveSameContent reports whether two file scenarios contain the same domain and the same two profiles, in
// any format. For large domains it compares the outcomes of [drawn].
func haveSameContent(a, b *tournament.Scenario) bool {
	domain, other := a.Preferences[0].Domain(), b.Preferences[0].Domain()
	if domain.Size() != other.Size() {
		return false
	}
	outcomes := drawn(domain.Size())
	equal := func(p, q *bargain.Preferences) bool {
		const step, time = 10, fixed.One / 2 // where discounts differ
		isOther := func(o bargain.Outcome) bool {
			now, later := p.Of(o).Sub(q.Of(o)), p.ValueAt(o, step, time).Sub(q.ValueAt(o, step, time))
			return max(now, -now, later, -later) > sameUtility
		}
		return !isOther(bargain.NoOutcome) && !slices.ContainsFunc(outcomes, isOther)
	}
	match := func(first, second int) bool {
		return equal(a.Preferences[0], b.Preferences[first]) && equal(a.Preferences[1], b.Preferences[second])
	}
	isNamedOtherwise := func(o bargain.Outcome) bool { return domain.Text(o) != other.Text(o) }
	return (match(0, 1) || match(1, 0)) && !slices.ContainsFunc(outcomes, isNamedOtherwise)
}

// generator identifies a generator's scenarios.
type generator struct {
	kind string
	seed uint64
}

// generatorOf returns the generator behind a [generated] source.
func generatorOf(source tournament.Source) generator {
	if made, ok := source.(tournament.Haggle); ok {
		return generator{haggle, made.Seed}
	}
	made, _ := source.(tournament.Random)
	return generator{random, made.Seed}
}

// parseGenerated returns the generator and the number, from 1, in a generated scenario's name, such as
// random-1-3. It returns false if the name is not generated.
func parseGenerated(name string) (made generator, number int, ok bool) {
	parts := strings.Split(name, "-")
	if len(parts) != 3 || parts[0] != random && parts[0] != haggle {
		return generator{}, 0, false
	}
	seed, seedErr := strconv.ParseUint(parts[1], 10, 64)
	at, numberErr := strconv.ParseUint(parts[2], 10, 32)
	made, number = generator{parts[0], seed}, int(at)
	isName := fmt.Sprintf("%s-%d-%d", made.kind, made.seed, number) == name
	return made, number, seedErr == nil && numberErr == nil && isName && number > 0 && number <= maxGenerated
}
