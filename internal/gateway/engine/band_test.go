package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The document's publisher counters 1,900 to an offer of 1,500. With the threshold of 0.9 it accepts 1,750.
func TestBandOfTheDocument(t *testing.T) {
	s := parsed(t, documentStrategy)
	asked := respond(t, &s, State{}, at(1500))
	require.EqualValues(t, 1750, asked.Least)
	require.EqualValues(t, 2750, asked.Terms.Price)
	require.Equal(t, Counter, respond(t, &s, State{}, at(1749)).Action)
	require.Equal(t, Accept, respond(t, &s, State{}, at(1750)).Action)

	chosen, err := asked.WithPrice(at(1500), 1900)
	require.NoError(t, err)
	require.Equal(t, at(1900), *chosen.Terms)
	require.Equal(t, ReasonPrice, chosen.Reason)
	require.EqualValues(t, 2750, asked.Terms.Price, "the decision itself does not change")

	// The chosen price is not taken back: it becomes the next band's highest price.
	state := State{}.Next(at(1500), chosen)
	next := respond(t, &s, state, at(1600))
	require.EqualValues(t, 2634, next.Terms.Price)
	next = next.NotAbove(state.Counter, at(1600))
	require.EqualValues(t, 1900, next.Terms.Price)
	require.EqualValues(t, 1750, next.Least)
	accepted := respond(t, &s, state, at(1800))
	require.Equal(t, Accept, accepted.Action)
	require.Zero(t, accepted.Least)
	require.Equal(t, accepted, accepted.NotAbove(state.Counter, at(1800)))
	other := at(1900)
	other.BurstRPS++
	require.EqualValues(t, 2634, respond(t, &s, state, at(1600)).NotAbove(&other, at(1600)).Terms.Price)

	for _, price := range []uint64{0, 1749, 2751} {
		_, err := asked.WithPrice(at(1500), price)
		require.ErrorContains(t, err, "is not a price of its counter offer", "%d", price)
	}
	_, err = accepted.WithPrice(at(1800), 1800)
	require.Error(t, err)
}

// A client that offers the counter offer's price, but different terms, is not told that the price is too low.
func TestChosenPriceOfTheClientHasNoReasonAboutThePrice(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.MaxTTLSeconds = 660
	proposal := at(2000)
	proposal.TTLSeconds = 700
	asked := respond(t, &s, State{}, proposal)
	require.Equal(t, ReasonTTL+"; "+ReasonPrice, asked.Reason)
	require.EqualValues(t, 2000, asked.Least, "never less than the client offers")
	chosen, err := asked.WithPrice(proposal, 2000)
	require.NoError(t, err)
	require.Equal(t, ReasonTTL, chosen.Reason)
}

// An aggressive publisher gives no discount, so the threshold does not lower the band.
func TestBandOfAnAggressivePublisherStartsAtThePreferredPrice(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.Style = Aggressive
	asked := respond(t, &s, State{}, at(1500))
	require.EqualValues(t, 2000, asked.Least)
	require.EqualValues(t, 5000, asked.Terms.Price)
}

// TestBandContainsPricesThatTheRulesAcceptThemselves plays random proposals, with a random price of the band as each
// counter offer.
func TestBandContainsPricesThatTheRulesAcceptThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStrategy(t)
		state := State{}
		for range s.MaxRounds {
			proposal := drawProposal(t, &s)
			decision, err := Respond(&s, state, proposal)
			require.NoError(t, err)
			if decision.Action != Counter {
				require.Zero(t, decision.Least)
				return
			}
			require.GreaterOrEqual(t, decision.Least, max(s.MinPrice, min(proposal.Price, decision.Terms.Price)))
			decision = decision.NotAbove(state.Counter, proposal)
			if standing := state.Counter; standing != nil && standing.Matches(*decision.Terms) {
				require.LessOrEqual(t, decision.Terms.Price, standing.Price)
			}
			least := *decision.Terms
			least.Price = decision.Least
			accepted, err := Respond(&s, state, least)
			require.NoError(t, err)
			require.Contains(t, []Action{Accept, Approve}, accepted.Action)

			// Different minima with the same walk-away price produce the same band.
			other := s
			other.MinPrice = max(s.Floor(), s.MinPrice-min(s.MinPrice, 1))
			if preferred := s.preferredPrice(proposal.PrepaidFetches); other.walkAway(preferred) == s.walkAway(preferred) {
				same, err := Respond(&other, state, proposal)
				require.NoError(t, err)
				require.Equal(t, decision.Least, same.Least)
			}
			price := rapid.Uint64Range(decision.Least, decision.Terms.Price).Draw(t, "chosen")
			decision, err = decision.WithPrice(proposal, price)
			require.NoError(t, err)
			checkDecision(t, &s, state, proposal, decision)
			state = state.Next(proposal, decision)
		}
	})
}
