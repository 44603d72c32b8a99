package analysis

// Step is a step's class: the change in both parties' utilities from a party's offer to the party's following
// offer.
//
// Source: Hindriks, Jonker, Tykhonov: Let's DANS! An Analytic Framework of Negotiation Dynamics and
// Strategies (2011), section 3.
type Step int

// The classes, with the change to the party itself and to the opponent.
const (
	// Silent: both stay equal.
	Silent Step = iota
	// Concession: worse for itself, and not worse for the opponent.
	Concession
	// Nice: equal for itself, and better for the opponent.
	Nice
	// Fortunate: better for both.
	Fortunate
	// Selfish: better for itself, and not better for the opponent.
	Selfish
	// Unfortunate: not better for itself, and worse for the opponent.
	Unfortunate

	steps = 6
)

func (s Step) String() string {
	return [steps]string{"silent", "concession", "nice", "fortunate", "selfish", "unfortunate"}[s]
}

// equal is the maximum difference between equal utilities, to allow for rounding.
const equal = 1e-9

// StepOf returns a step's class.
func StepOf(self, other float64) Step {
	selfBetter, selfWorse := self > equal, self < -equal
	otherBetter, otherWorse := other > equal, other < -equal
	switch {
	case selfBetter && otherBetter:
		return Fortunate
	case selfBetter:
		return Selfish
	case otherWorse:
		return Unfortunate
	case selfWorse:
		return Concession
	case otherBetter:
		return Nice
	}
	return Silent
}

// Steps counts a party's steps by class.
type Steps [steps]int

// Total returns the number of steps.
func (s Steps) Total() (total int) {
	for _, count := range s {
		total += count
	}
	return total
}

// Sensitivity returns the share of steps that consider the opponent's preferences: fortunate steps, nice
// steps and concessions, relative to all steps. It returns 0 if there are no steps.
func (s Steps) Sensitivity() float64 {
	if s.Total() == 0 {
		return 0
	}
	return float64(s[Fortunate]+s[Nice]+s[Concession]) / float64(s.Total())
}
