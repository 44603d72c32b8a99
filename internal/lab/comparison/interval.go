package comparison

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// tail is the probability on each side of a 95 % interval.
const tail = 0.025

// Mean is the mean of observations with Student's confidence interval of 95 %.
type Mean struct {
	// Count is the number of observations.
	Count int `json:"count"`
	// Mean is missing if there is no observation. Low and High are missing if there are fewer than two.
	Mean *float64 `json:"mean,omitempty"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// meanOf sorts the values, so that their order does not affect the digits.
func meanOf(values []float64) Mean {
	m := Mean{Count: len(values)}
	if m.Count == 0 {
		return m
	}
	slices.Sort(values)
	mean, deviation := stat.MeanStdDev(values, nil)
	m.Mean = rounded(mean)
	if m.Count < 2 {
		return m
	}
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(m.Count - 1)}
	margin := student.Quantile(1-tail) * stat.StdErr(deviation, float64(m.Count))
	m.Low, m.High = rounded(mean-margin), rounded(mean+margin)
	return m
}

// Share is a share of observations with Clopper and Pearson's confidence interval, covering at least 95 %.
type Share struct {
	// Count is the number of observations, Hits of those that are counted.
	Count int `json:"count"`
	Hits  int `json:"hits"`
	// Share and the interval are missing if there is no observation.
	Share *float64 `json:"share,omitempty"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

func shareOf(hits, count int) Share {
	s := Share{Count: count, Hits: hits}
	if count == 0 {
		return s
	}
	low, high := 0.0, 1.0
	if hits > 0 {
		low = distuv.Beta{Alpha: float64(hits), Beta: float64(count - hits + 1)}.Quantile(tail)
	}
	if hits < count {
		high = distuv.Beta{Alpha: float64(hits + 1), Beta: float64(count - hits)}.Quantile(1 - tail)
	}
	s.Share, s.Low, s.High = rounded(float64(hits)/float64(count)), rounded(low), rounded(high)
	return s
}

// rounded returns a figure with as many digits as documents show.
func rounded(figure float64) *float64 {
	const parts = 1e6
	// Adding 0 turns -0 into 0.
	return new(math.Round(figure*parts)/parts + 0)
}
