package llm

import (
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/opponent"
)

// maxCandidates limits the candidates of a turn.
const maxCandidates = 10

// The origins of candidates.
const (
	fromStrategy  = "the strategy's own offer"
	fromFloor     = "least value of the band"
	fromCeiling   = "highest value of the band"
	fromMiddle    = "middle of the band"
	fromRepeat    = "own latest offer again"
	fromBetween   = "halfway between both latest offers"
	fromOther     = "the other side's latest offer at a price in the band"
	fromEstimated = "estimated best for the other side at this value"
)

// candidate is a suggested offer.
type candidate struct {
	outcome bargain.Outcome
	origin  string
}

// suggestions collects candidates.
type suggestions struct {
	band *band
	list []candidate
}

func (s *suggestions) add(o bargain.Outcome, origin string) {
	known := slices.ContainsFunc(s.list, func(c candidate) bool { return c.outcome == o })
	if o != bargain.NoOutcome && !known && len(s.list) < maxCandidates && s.band.has(o) {
		s.list = append(s.list, candidate{o, origin})
	}
}

// suggest returns candidates by rising utility, and for several issues the opponent model behind them.
func suggest(b *band, a *bargain.Assessment, priceOnly bool) ([]candidate, bargain.Model) {
	s := suggestions{band: b}
	s.add(a.Target, fromStrategy)
	var other bargain.Model
	if priceOnly {
		s.addPrices(a)
	} else {
		other = s.addOutcomes(a)
	}
	if own, made := a.State.Own(a.Self, 0); made {
		s.add(own.Outcome, fromRepeat)
	}
	slices.SortStableFunc(s.list, func(x, y candidate) int {
		u, v := a.Preferences.Of(x.outcome), a.Preferences.Of(y.outcome)
		switch {
		case u < v:
			return -1
		case u > v:
			return 1
		}
		return 0
	})
	return s.list, other
}

// addPrices adds both ends and the middle of the band, and the price halfway between the latest offers.
func (s *suggestions) addPrices(a *bargain.Assessment) {
	first, last, ok := s.band.interval(a.Target)
	if !ok {
		return
	}
	floor, ceiling := bargain.Outcome(first), bargain.Outcome(last)
	if s.band.direction() < 0 {
		floor, ceiling = ceiling, floor
	}
	s.add(floor, fromFloor)
	s.add(ceiling, fromCeiling)
	s.add(bargain.Outcome(first+(last-first)/2), fromMiddle)
	own, made := a.State.Own(a.Self, 0)
	others, answered := a.State.Others(a.Self, 0)
	if made && answered {
		lower, higher := min(own.Outcome, others.Outcome), max(own.Outcome, others.Outcome)
		s.add(lower+(higher-lower)/2, fromBetween)
	}
}

// drawn is the sample size per level of utility.
const drawn = 64

// levels divides the band in addOutcomes.
const levels = 3

// addOutcomes adds the counterparty's latest offer at a price inside the band, and for each level of utility
// the sampled outcome that an opponent model prefers.
func (s *suggestions) addOutcomes(a *bargain.Assessment) bargain.Model {
	if others, made := a.State.Others(a.Self, 0); made {
		corrected, _ := s.band.correct(others.Outcome)
		s.add(corrected, fromOther)
	}
	model := modelOf(a)
	inverse, random := a.Preferences.Inverse(), bargain.NewRandom(uint64(a.Round), uint64(a.Self))
	step := (s.band.ceiling - s.band.floor) / levels
	for level := range fixed.Number(levels) {
		low := s.band.floor + level*step
		best := bargain.NoOutcome
		for range drawn {
			o := inverse.Within(low, low+step, random)
			if o == bargain.NoOutcome {
				break
			}
			if s.band.has(o) && (best == bargain.NoOutcome || model.Of(o) > model.Of(best)) {
				best = o
			}
		}
		s.add(best, fromEstimated)
	}
	return model
}

// modelOf returns an opponent model trained with the counterparty's offers.
func modelOf(a *bargain.Assessment) bargain.Model {
	seat := bargain.Seat{Preferences: a.Preferences, Self: a.Self, Parties: 2, Steps: a.State.Steps}
	model := opponent.Bayesian{}.Model(seat)
	for _, offer := range a.State.History {
		if offer.By != a.Self {
			model.Observe(offer)
		}
	}
	return model
}
