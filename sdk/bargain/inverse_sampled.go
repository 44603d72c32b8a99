package bargain

import "slices"

const (
	samples  = 1 << 16
	climbs   = 16
	maxTried = 64
)

// newSampled returns the inverse of a sample: random outcomes, and those on the way from the best and the
// worst of them to a local optimum. The sample depends on domain and utility only.
func newSampled(domain *Domain, utility Utility) *sorted {
	random := NewRandom(domain.Size(), uint64(domain.Len()))
	seen := make(map[Outcome]struct{}, samples)
	outcomes := make([]Outcome, 0, samples+samples/4)
	add := func(o Outcome) {
		if _, ok := seen[o]; !ok {
			seen[o] = struct{}{}
			outcomes = append(outcomes, o)
		}
	}
	if bounded, ok := utility.(Bounded); ok {
		worst, best := bounded.Extremes()
		add(worst)
		add(best)
	}
	for range samples {
		add(Outcome(random.Below(domain.Size())))
	}
	first := sortOutcomes(slices.Clone(outcomes), utility, false)
	for i := range climbs {
		climb(domain, utility, first.list[i].outcome, 1, add)
		climb(domain, utility, first.list[len(first.list)-1-i].outcome, -1, add)
	}
	return sortOutcomes(outcomes, utility, false)
}

// climb adds the outcomes on the way from o to a local optimum: the best if sign is 1, the worst if it is -1.
// A step changes one issue's value; of an issue with many values it tries 64, evenly spread.
func climb(domain *Domain, utility Utility, o Outcome, sign int64, add func(Outcome)) {
	for improved := true; improved; {
		improved = false
		for at := range domain.Len() {
			count := domain.Issue(at).Count
			for tried := range min(count, maxTried) {
				index := tried
				if count > maxTried {
					index = tried * (count / maxTried)
				}
				next := domain.With(o, at, index)
				if int64(utility.Of(next))*sign > int64(utility.Of(o))*sign {
					o, improved = next, true
					add(o)
				}
			}
		}
	}
}
