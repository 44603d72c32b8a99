package engine

import (
	"fmt"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// TestMinimaWithOneWalkAwayPriceGiveTheSameAnswers checks that the answers reveal only the walk-away price,
// never the exact minimum, for any strategy and any proposals.
func TestMinimaWithOneWalkAwayPriceGiveTheSameAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := drawStrategy(t)
		other := one
		if one.Floor() == one.MinPrice {
			t.Skip("a published minimum")
		}
		rounded := roundUp(one.MinPrice)
		least := sort.Search(int(one.MinPrice), func(price int) bool { return roundUp(uint64(price)) == rounded })
		other.MinPrice = anywhere(max(uint64(least), one.Floor()+1),
			min(rounded, one.preferredPrice(terms.MaxFetches))).Draw(t, "other minimum")
		for _, price := range append([]Tier{{Price: one.PreferredPrice}}, one.Tiers...) {
			require.Equal(t, one.walkAway(price.Price), other.walkAway(price.Price))
		}
		if other.Validate() != nil {
			t.Skip("a deal breaker rejects the other minimum")
		}
		require.Equal(t, one.Public(), other.Public())
		for range 10 {
			compareNegotiations(t, &one, &other)
		}
	})
}

// compareNegotiations plays random proposals against two strategies that must give the same answers.
func compareNegotiations(t *rapid.T, one, other *Strategy) {
	var states [2]State
	for range one.MaxRounds + 1 {
		proposal := drawProposal(t, one)
		var answers [2]Answer
		for side, s := range [2]*Strategy{one, other} {
			decision, err := Respond(s, states[side], proposal)
			require.NoError(t, err)
			answers[side], states[side] = decision.Answer(), states[side].Next(proposal, decision)
		}
		require.Equal(t, answers[0], answers[1])
		require.Equal(t, states[0], states[1])
		if states[0].Status != Negotiating {
			return
		}
	}
}

// attacker knows the rules and the whole strategy except for the minimum. It keeps the minima consistent with
// all answers so far: no inference can do better.
type attacker struct {
	strategy   Strategy
	candidates []uint64
	states     map[uint64]State
}

func newAttacker(s Strategy) *attacker {
	a := &attacker{strategy: s}
	for minimum := s.Floor(); minimum <= s.preferredPrice(terms.MaxFetches); minimum++ {
		a.candidates = append(a.candidates, minimum)
	}
	return a
}

// answer returns the answer and the next state if the minimum were a candidate.
func (a *attacker) answer(minimum uint64, proposal terms.Terms) (Answer, State) {
	s := a.strategy
	s.MinPrice = minimum
	decision, err := Respond(&s, a.states[minimum], proposal)
	if err != nil {
		panic(err)
	}
	return decision.Answer(), a.states[minimum].Next(proposal, decision)
}

// split returns the size of the largest group of candidates with the same answer. The attacker minimizes it.
func (a *attacker) split(proposal terms.Terms) int {
	type observation struct {
		action   Action
		reason   string
		price    uint64
		ttl, rps uint32
	}
	groups, largest := map[observation]int{}, 0
	for _, minimum := range a.candidates {
		answer, _ := a.answer(minimum, proposal)
		key := observation{action: answer.Action, reason: answer.Reason}
		if answer.Terms != nil {
			key.price, key.ttl, key.rps = answer.Terms.Price, answer.Terms.TTLSeconds, answer.Terms.BurstRPS
		}
		groups[key]++
		largest = max(largest, groups[key])
	}
	return largest
}

// negotiate runs one negotiation with the real minimum, with at most max_rounds proposals, and returns the
// width of the interval of the remaining candidates.
func (a *attacker) negotiate(next func(round uint32) terms.Terms) uint64 {
	a.states = map[uint64]State{} // each is a new negotiation
	real := a.strategy.MinPrice
	for round := range a.strategy.MaxRounds {
		proposal := next(round + 1)
		answer, _ := a.answer(real, proposal)
		var consistent []uint64
		for _, minimum := range a.candidates {
			other, state := a.answer(minimum, proposal)
			if other.Action != answer.Action || other.Reason != answer.Reason ||
				(other.Terms == nil) != (answer.Terms == nil) ||
				other.Terms != nil && !other.Terms.Equal(*answer.Terms) {
				continue
			}
			a.states[minimum] = state
			consistent = append(consistent, minimum)
		}
		a.candidates = consistent
		if a.states[real].Status != Negotiating {
			break
		}
	}
	return a.candidates[len(a.candidates)-1] - a.candidates[0]
}

// lowball repeats proposals at the floor, for the highest volume. They get no concession.
func (a *attacker) lowball(uint32) terms.Terms {
	proposal := at(a.strategy.Floor())
	proposal.PrepaidFetches = terms.MaxFetches
	return proposal
}

// greedy returns the proposal that splits the candidates best, over a grid of prices and further terms.
func (a *attacker) greedy(uint32) terms.Terms {
	best, least := at(a.strategy.Floor()), len(a.candidates)+1
	for price := a.strategy.Floor(); price <= a.strategy.MaxPrice; price += 29 {
		for _, ttl := range []uint32{600, 450} {
			for _, prepaid := range []uint64{0, 5000} {
				proposal := at(price)
				proposal.TTLSeconds, proposal.PrepaidFetches = ttl, prepaid
				if largest := a.split(proposal); largest < least {
					best, least = proposal, largest
				}
			}
		}
	}
	return best
}

// bisect searches for the lowest accepted price among the candidates, with changing further terms.
func (a *attacker) bisect(round uint32) terms.Terms {
	proposal := at((a.candidates[0] + a.candidates[len(a.candidates)-1]) / 2)
	proposal.TTLSeconds -= 100 * (round % 3)
	return proposal
}

// TestTenNegotiationsTeachNoMoreThanTheWalkAwayPrice plays an hour's negotiations against all styles, each as
// a new client. No attacker's interval for the minimum is narrower than a step of the public list, and low
// proposals teach nothing.
func TestTenNegotiationsTeachNoMoreThanTheWalkAwayPrice(t *testing.T) {
	const negotiations = 10
	for _, style := range Styles() {
		for _, minimum := range []uint64{130, 260} {
			t.Run(fmt.Sprintf("%s %d", style, minimum), func(t *testing.T) {
				s := NewStrategy()
				s.Style, s.PublishedFloor = style, 100
				s.MinPrice, s.PreferredPrice, s.MaxPrice = minimum, 320, 400
				s.Tiers = []Tier{{From: 5000, Price: 300}}
				s.MaxRounds = 4
				require.NoError(t, s.Validate())

				low := newAttacker(s)
				all := len(low.candidates)
				step := slices.DeleteFunc(slices.Clone(low.candidates), func(price uint64) bool {
					other := s
					other.MinPrice = price
					return other.walkAway(300) != s.walkAway(300)
				})
				require.GreaterOrEqual(t, len(step), 30, "the steps of the list are wide")
				low.negotiate(low.lowball)
				require.Len(t, low.candidates, all)

				methods := map[string]func(*attacker) func(uint32) terms.Terms{
					"greedy":  func(a *attacker) func(uint32) terms.Terms { return a.greedy },
					"bisect":  func(a *attacker) func(uint32) terms.Terms { return a.bisect },
					"lowball": func(a *attacker) func(uint32) terms.Terms { return a.lowball },
				}
				for name, method := range methods {
					a := newAttacker(s)
					for range negotiations {
						a.negotiate(method(a))
						require.Subset(t, a.candidates, step, name)
					}
				}
			})
		}
	}
}

func TestRoundingIsPublicAndMonotone(t *testing.T) {
	for price, rounded := range map[uint64]uint64{
		0: 0, 1: 1, 2: 2, 3: 3, 6: 7, 11: 13, 100: 100, 101: 125, 1000: 1000, 1001: 1250, 2600: 3150,
		6301: 8000, 8001: 10_000, terms.MaxPrice: terms.MaxPrice,
	} {
		require.Equal(t, rounded, roundUp(price), "%d", price)
	}
	before := uint64(0)
	for price := range uint64(200_000) {
		rounded := roundUp(price)
		require.GreaterOrEqual(t, rounded, max(price, before))
		require.Equal(t, rounded, roundUp(rounded))
		if price >= 100 {
			require.LessOrEqual(t, rounded*100, price*128)
		}
		before = rounded
	}
}
