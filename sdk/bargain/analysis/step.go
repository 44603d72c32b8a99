package analysis

// Step is the class of a step: the change of both parties' utilities from a party's offer to its next one.
//
// Source: Hindriks, Jonker, Tykhonov: Let's DANS! An Analytic Framework of Negotiation Dynamics and
// Strategies (2011), section 3.
type Step int

// The classes, with the change to the party itself and to the other one.
const (
	// Silent: both stay equal.
	Silent Step = iota
	// Concession: worse for itself, and not worse for the other.
	Concession
	// Nice: equal for itself, and better for the other.
	Nice
	// Fortunate: better for both.
	Fortunate
	// Selfish: better for itself, and not better for the other.
	Selfish
	// Unfortunate: not better for itself, and worse for the other.
	Unfortunate

	steps = 6
)

func (s Step) String() string {
	return [steps]string{"silent", "concession", "nice", "fortunate", "selfish", "unfortunate"}[s]
}

// equal is the difference up to which utilities count as equal: that of their roundings.
const equal = 1e-9

// StepOf returns the class of a step.
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

// Steps counts the steps of a party by their class.
type Steps [steps]int

// Total returns the number of steps.
func (s Steps) Total() (total int) {
	for _, count := range s {
		total += count
	}
	return total
}

// Sensitivity returns the share of steps that consider the other party's preferences: fortunate and nice
// steps and concessions, of all steps. It returns 0 if there are no steps.
func (s Steps) Sensitivity() float64 {
	if s.Total() == 0 {
		return 0
	}
	return float64(s[Fortunate]+s[Nice]+s[Concession]) / float64(s.Total())
}
