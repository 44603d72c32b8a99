package engine

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// TestInvariantsOfNegotiations plays random proposals against random strategies.
func TestInvariantsOfNegotiations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStrategy(t)
		state := State{}
		for round := uint32(1); ; round++ {
			proposal := drawProposal(t, &s)
			decision, err := Respond(&s, state, proposal)
			require.NoError(t, err)
			again, _ := Respond(&s, state, proposal)
			require.Equal(t, decision, again, "deterministic")
			checkDecision(t, &s, state, proposal, decision)
			state = state.Next(proposal, decision)
			if decision.Action != Counter {
				break
			}
			require.Equal(t, round, state.Round)
			require.LessOrEqual(t, round, s.MaxRounds)
			if rapid.Bool().Draw(t, "client accepts") {
				agreed, err := AcceptCounter(&s, state)
				require.NoError(t, err)
				require.Contains(t, []Action{Accept, Approve}, agreed.Action)
				require.True(t, agreed.Terms.Equal(*decision.Terms))
				state.Status = agreed.Status()
				break
			}
			if round < s.MaxRounds && rapid.Bool().Draw(t, "client proposes the counter offer") {
				agreed, err := Respond(&s, state, *decision.Terms)
				require.NoError(t, err)
				require.Contains(t, []Action{Accept, Approve}, agreed.Action, "a counter offer binds")
				state = state.Next(*decision.Terms, agreed)
				break
			}
		}
		_, err := Respond(&s, state, at(1))
		if state.Status == AwaitingApproval {
			require.ErrorIs(t, err, ErrAwaitingApproval)
		} else {
			require.ErrorIs(t, err, ErrFinal)
		}
	})
}

func checkDecision(t *rapid.T, s *Strategy, state State, proposal terms.Terms, decision Decision) {
	require.NotEmpty(t, decision.Answer().Codes)
	require.NotEmpty(t, decision.Tone)
	switch decision.Action {
	case Accept, Approve:
		require.True(t, decision.Terms.Equal(proposal), "there is no upper limit of the price")
		require.GreaterOrEqual(t, proposal.Price, s.MinPrice)
		require.True(t, isWithin(s, proposal))
	case Counter:
		require.GreaterOrEqual(t, decision.Terms.Price, max(s.Floor(), s.MinPrice))
		require.LessOrEqual(t, decision.Terms.Price, s.MaxPrice)
		require.NoError(t, decision.Terms.Validate())
		require.True(t, isWithin(s, *decision.Terms))
		require.Equal(t, proposal.PrepaidFetches, decision.Terms.PrepaidFetches)
		require.False(t, decision.Terms.Equal(proposal))
		for _, breaker := range s.DealBreakers {
			require.False(t, breaker.breaks(*decision.Terms), "%s", breaker)
		}
	case Reject:
		broken := slices.ContainsFunc(s.DealBreakers, func(d DealBreaker) bool { return d.breaks(proposal) })
		require.True(t, proposal.Price < s.Floor() || broken)
	case Timeout:
		require.Equal(t, s.MaxRounds, state.Round)
		require.Equal(t, ReasonRounds, decision.Reason)
	}
}

func isWithin(s *Strategy, t terms.Terms) bool {
	refused := func(p terms.Purpose) bool { return !slices.Contains(s.AllowedPurposes, p) }
	return t.TTLSeconds >= s.MinTTLSeconds && t.TTLSeconds <= s.MaxTTLSeconds &&
		t.BurstRPS >= s.MinBurstRPS && t.BurstRPS <= s.MaxBurstRPS &&
		!slices.ContainsFunc(t.Purposes, refused)
}

// TestConcessionDirection checks that asked and acceptable prices never rise from round to round, for fixed
// terms apart from the price, in all of a client's negotiations, and that the asked price is never lower than
// the acceptable price.
func TestConcessionDirection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStrategy(t)
		other := s.within(drawProposal(t, &s))
		quote := s.quote(other.PrepaidFetches)
		asked, accepted := s.MaxPrice, s.MaxPrice
		state := State{}
		for range rapid.IntRange(1, 30).Draw(t, "proposals") {
			proposal := other
			if proposal.Price = anywhere(s.Floor(), s.PreferredPrice).Draw(t, "price"); rapid.Bool().Draw(t, "new") {
				state = State{Proposals: state.Proposals}
			}
			ask, accept := quote.prices(quote.levels(state, proposal), other)
			require.LessOrEqual(t, ask, asked)
			require.LessOrEqual(t, accept, min(accepted, ask))
			require.GreaterOrEqual(t, accept, quote.walkAway)
			asked, accepted = ask, accept
			if proposal.Price >= accept {
				break // an agreement is no concession
			}
			state.Proposals = append(state.Proposals, proposal)
			state.Round++
		}
		require.GreaterOrEqual(t, quote.walkAway, s.MinPrice)
	})
}

// TestNoProposalsReachBelowTheBound plays a client's proposals in several negotiations: with different terms,
// for different tiers, with terms that the strategy does not accept, with deal breakers, and in bundles,
// which hold agreements. No offer for otherwise preferred terms falls under the bound stated in the package
// comment.
func TestNoProposalsReachBelowTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStrategy(t)
		s.AutoAcceptThreshold, s.ApprovalAbove = One, MaxApprovalAbove
		state := State{}
		for range rapid.IntRange(1, 30).Draw(t, "proposals") {
			proposal := drawProposal(t, &s)
			decision, err := Respond(&s, state, proposal)
			require.NoError(t, err)
			held := decision.Action == Accept && rapid.Bool().Draw(t, "held")
			if held {
				decision.Action = Counter
			}
			quote := s.quote(proposal.PrepaidFetches)
			if decision.Terms != nil && quote.surcharge(*decision.Terms) == 0 {
				discount, way := quote.preferred-quote.least, quote.preferred-s.Floor()
				bound := quote.preferred - (discount*way)/max(way+discount, 1)
				require.GreaterOrEqual(t, decision.Terms.Price+1, max(bound, quote.walkAway))
			}
			state = state.Next(proposal, decision)
			if decision.Action != Counter || rapid.IntRange(0, 4).Draw(t, "leaves") == 0 {
				state = State{Proposals: state.Proposals}
			}
		}
	})
}

// TestMinimumHasNoEffectAboveTheWalkAwayPrice checks that clients learn nothing about a minimum under all
// prices that they reach, if the threshold accepts only the full score.
func TestMinimumHasNoEffectAboveTheWalkAwayPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := drawStrategy(t)
		one.AutoAcceptThreshold, one.DealBreakers = One, []DealBreaker{}
		other := one
		one.MinPrice, other.MinPrice = one.PublishedFloor+min(1, one.MinPrice-one.PublishedFloor), one.MinPrice
		var states [2]State
		for range one.MaxRounds {
			proposal := drawProposal(t, &one)
			high := other.quote(proposal.PrepaidFetches)
			if high.discounted(high.levels(states[0], proposal).discount) == high.walkAway {
				return // the publisher with the higher minimum cannot concede further
			}
			var answers [2]Answer
			for side, s := range [2]*Strategy{&one, &other} {
				decision, err := Respond(s, states[side], proposal)
				require.NoError(t, err)
				answers[side], states[side] = decision.Answer(), states[side].Next(proposal, decision)
			}
			require.Equal(t, answers[0], answers[1])
			if states[0].Status != Negotiating {
				return
			}
		}
	})
}

func TestScoreDirectionInThePrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStrategy(t)
		lower := drawProposal(t, &s)
		higher := lower
		higher.Price = rapid.Uint64Range(lower.Price, terms.MaxPrice).Draw(t, "higher price")
		one, other := Score(&s, lower), Score(&s, higher)
		require.LessOrEqual(t, one.Total, other.Total)
		require.LessOrEqual(t, other.Total, One)
		require.Equal(t, one.Total, one.Price+one.TTL+one.RPS+one.Purposes)
		guarded := s.scoreFrom(s.walkAway(s.preferredPrice(lower.PrepaidFetches)), lower).Total
		require.LessOrEqual(t, guarded, one.Total, "the guard never lifts a score")
	})
}

func TestStrategiesSurviveJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStrategy(t)
		s.ValidFrom = noon.Add(time.Duration(rapid.Int64Range(-1e9, 1e9).Draw(t, "from")))
		s.Hours = []Hours{{From: 60, Until: minutesOfDay}}
		text, err := json.Marshal(s)
		require.NoError(t, err)
		again, err := ParseStrategy(text)
		require.NoError(t, err)
		require.Equal(t, s, again)
	})
}
