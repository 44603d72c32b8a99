package analysis

import "math"

// Model models a party's concessions.
type Model string

// The models.
const (
	// Unknown: there are too few offers.
	Unknown Model = "unknown"
	// Hardliner: it never changed the utility that it demands, but where the rules limited the demand.
	Hardliner Model = "hardliner"
	// Boulware, Linear and Conceder are time dependent strategies u(t) = a - b t^(1/e), classified by e.
	Boulware Model = "boulware"
	Linear   Model = "linear"
	Conceder Model = "conceder"
	// TitForTat returns in every step a fixed ratio of the opponent's last concession.
	TitForTat Model = "tit-for-tat"
)

// Up to minOffers-1 offers a curve with three parameters always fits. From mostBoulware up to leastConceder
// an exponent counts as linear. These limits lie on a logarithmic scale half way to e = 0.6 and 1.6.
const (
	minOffers = 4
	// minHard is the minimum number of offers for a constant demand not to count as chance.
	minHard       = 3
	mostBoulware  = 0.78
	leastConceder = 1.28
)

// Fit measures how well a model explains a party's offers.
type Fit struct {
	Model Model
	// Exponent is a time dependent model's e: the concession is t^(1/e), in Faratin's and GENIUS' convention.
	Exponent float64
	// Ratio is the tit-for-tat ratio: a party's concession per unit received.
	Ratio float64
	// Goodness is the explained share of the squared steps, adjusted for the number of parameters: up to 1,
	// and 0 or less for models no better than standing still.
	Goodness float64
}

// series is a party's offer sequence: its utilities, the times, and before every offer the party's utility
// change from the opponent's last step. has reports whether there was such a step, and atLimit whether the
// rules allowed no higher demand.
type series struct {
	utilities, times, gains []float64
	has, atLimit            []bool
}

func seriesOf(offers []Offer, party int) (s series) {
	var others []float64
	for _, offer := range offers {
		u := offer.Utilities[party]
		if offer.By != party {
			others = append(others, u)
			continue
		}
		s.utilities, s.times = append(s.utilities, u), append(s.times, offer.Time)
		s.atLimit = append(s.atLimit, offer.AtLimit)
		gain, last := 0.0, len(others)-1
		if last >= 1 {
			gain = others[last] - others[last-1]
		}
		s.gains, s.has = append(s.gains, gain), append(s.has, last >= 1)
	}
	return s
}

// fits returns the time dependent and tit-for-tat fits, the better fit first.
func (s series) fits() []Fit {
	switch {
	case len(s.utilities) >= minHard && s.isHard():
		return []Fit{{Model: Hardliner, Goodness: 1}}
	case len(s.utilities) < minOffers:
		return []Fit{{Model: Unknown}}
	}
	time, echo := s.fitTime(), s.fitTitForTat()
	if echo.Goodness > time.Goodness+equal {
		return []Fit{echo, time}
	}
	return []Fit{time, echo}
}

// isHard reports whether every demand equals the previous demand, or the highest demand allowed by the rules.
// On chain the highest price falls with the decay, so a party demanding everything concedes a little with
// every offer.
func (s series) isHard() bool {
	for at := 1; at < len(s.utilities); at++ {
		if math.Abs(s.utilities[at]-s.utilities[at-1]) > equal && !s.atLimit[at] {
			return false
		}
	}
	return true
}

// goodness compares predicted steps with the actual ones. It skips steps made before any opponent step, to
// compare both models on the same steps.
func (s series) goodness(predicted func(at int) float64, parameters int) float64 {
	rest, all, count := 0.0, 0.0, 0
	for at := 1; at < len(s.utilities); at++ {
		if !s.has[at] {
			continue
		}
		step := s.utilities[at] - s.utilities[at-1]
		all += step * step
		rest += (step - predicted(at)) * (step - predicted(at))
		count++
	}
	switch {
	case rest <= equal*equal*float64(count):
		return 1
	case count <= parameters || all == 0:
		return 0
	}
	return 1 - rest/all*float64(count)/float64(count-parameters)
}

// fitTime fits u(t) = a - b t^p. For each p the best a and b follow from linear least squares; p is searched
// on a logarithmic scale, first on a grid, then by golden section.
func (s series) fitTime() Fit {
	const low, high, cells = -3.5, 3.5, 140
	width := (high - low) / cells
	best, least := 0.0, math.Inf(1)
	for cell := range cells + 1 {
		at := low + float64(cell)*width
		if _, _, rest := s.line(math.Exp(at)); rest < least {
			best, least = at, rest
		}
	}
	best = minimum(best-width, best+width, func(at float64) float64 {
		_, _, rest := s.line(math.Exp(at))
		return rest
	})
	p := math.Exp(best)
	_, slope, _ := s.line(p)
	fit := Fit{Model: Linear, Exponent: 1 / p}
	switch {
	case fit.Exponent < mostBoulware:
		fit.Model = Boulware
	case fit.Exponent > leastConceder:
		fit.Model = Conceder
	}
	fit.Goodness = s.goodness(func(at int) float64 {
		return slope * (math.Pow(s.times[at], p) - math.Pow(s.times[at-1], p))
	}, 2)
	return fit
}

// line returns the least squares line through the utilities over t^p, and the sum of squares. A constant
// replaces rising lines: the models only concede.
func (s series) line(p float64) (start, slope, rest float64) {
	n := float64(len(s.utilities))
	var sumX, sumY, sumXX, sumXY float64
	for at, u := range s.utilities {
		x := math.Pow(s.times[at], p)
		sumX, sumY, sumXX, sumXY = sumX+x, sumY+u, sumXX+x*x, sumXY+x*u
	}
	if spread := sumXX - sumX*sumX/n; spread > 0 {
		slope = min((sumXY-sumX*sumY/n)/spread, 0)
	}
	start = (sumY - slope*sumX) / n
	for at, u := range s.utilities {
		difference := u - start - slope*math.Pow(s.times[at], p)
		rest += difference * difference
	}
	return start, slope, rest
}

// minimum returns the position of a function's only minimum between two numbers, by golden section.
func minimum(low, high float64, of func(float64) float64) float64 {
	ratio := (math.Sqrt(5) - 1) / 2
	for high-low > 1e-9 {
		left, right := high-ratio*(high-low), low+ratio*(high-low)
		if of(left) <= of(right) {
			high = right
		} else {
			low = left
		}
	}
	return (low + high) / 2
}

// fitTitForTat fits step = -ratio * gain by least squares: Faratin's relative tit-for-tat and similar
// tactics.
func (s series) fitTitForTat() Fit {
	products, squares := 0.0, 0.0
	for at := 1; at < len(s.utilities); at++ {
		if s.has[at] {
			products -= (s.utilities[at] - s.utilities[at-1]) * s.gains[at]
			squares += s.gains[at] * s.gains[at]
		}
	}
	fit := Fit{Model: TitForTat}
	if squares > 0 {
		fit.Ratio = max(products/squares, 0)
	}
	fit.Goodness = s.goodness(func(at int) float64 { return -fit.Ratio * s.gains[at] }, 1)
	return fit
}
