package llm_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// TestNoDecisionLeavesBandAndLimits asks scripted models about 10,000 random turns, with all strategies, with
// and without slack. Every decision is possible on chain, within the agent's limits, and within the band.
func TestNoDecisionLeavesBandAndLimits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names, named, played := strategy.Names(), strategy.Named(), characters(random)
	models := slices.Sorted(maps.Keys(played))
	asked, chosen, corrected, fallbacks, accepts := 0, 0, 0, 0, 0
	for at := 0; asked < 10_000; at++ {
		turn := randomTurn(random)
		options := llm.Options{
			Strategy: named[names[at%len(names)]], Name: names[at%len(names)], Logger: quiet,
			SlackBps: uint16(random.IntN(3) * 1_000), LeadBps: uint16(random.IntN(2) * 5_000),
			MayWalkAway: random.IntN(2) == 0, Seed: uint64(at), Attempts: 1,
		}
		var record llm.Record
		options.Decided = func(r llm.Record) error { record = r; return nil }
		decision, err := newPlayer(t, played[models[at%len(models)]], options).Decide(t.Context(), turn)
		require.NoError(t, err)
		checkDecision(t, turn, decision, options, record)
		asked += len(record.Answers)
		switch {
		case record.Fallback != "":
			fallbacks++
		case record.Correction != "":
			corrected++
		default:
			chosen++
		}
		if _, is := decision.(agent.Accept); is {
			accepts++
		}
	}
	t.Logf("%d answers: %d chosen, %d corrected, %d by the strategy, %d acceptances", asked, chosen, corrected,
		fallbacks, accepts)
	require.Greater(t, chosen, 500)
	require.Greater(t, corrected, 500)
	require.Greater(t, fallbacks, 500)
	require.Greater(t, accepts, 100)
}

// checkDecision checks a decision against the program's rules, the agent's limits, and the strategy's band.
func checkDecision(
	t *testing.T, turn agent.Turn, decision agent.Decision, options llm.Options, record llm.Record,
) {
	t.Helper()
	n := turn.Negotiation
	reservation := turn.Limits.MaxTotal
	if turn.Side == protocol.OfferSideSeller {
		reservation = turn.Limits.MinPrice
	}
	alone := agent.Player{
		Strategy: options.Strategy, Opening: options.Opening, Reservation: reservation, Seed: options.Seed,
	}
	assessed, err := alone.Assess(turn)
	require.NoError(t, err)
	permits := func(price, decay uint64) bool {
		if turn.Side == protocol.OfferSideBuyer {
			return price+decay <= turn.Limits.MaxTotal
		}
		return price-n.FeeOn(price) >= turn.Limits.MinPrice
	}
	p := assessed.Preferences
	floor, ceiling := fixed.Max, fixed.Min
	if p != nil && assessed.Target != bargain.NoOutcome {
		lowest, highest, _ := p.Range()
		lead := max(options.LeadBps, 1)
		if options.LeadBps == 0 {
			lead = llm.DefaultLeadBps
		}
		span := highest - lowest
		floor = max(p.Of(assessed.Target)-span.Scale(int64(options.SlackBps), 10_000), p.Reservation())
		ceiling = p.Of(assessed.Target) + span.Scale(int64(lead), 10_000)
	}
	outcome := func(price uint64) bargain.Outcome {
		side := onchain.Player{Preferences: p}
		outcomes, _ := side.Outcomes(&n.Negotiation, turn.Side, []onchain.Offer{{Amount: price}})
		return outcomes[0]
	}
	switch decision := decision.(type) {
	case agent.Offer:
		least, most := n.OfferRange()
		require.True(t, turn.CanOffer())
		require.GreaterOrEqual(t, decision.Amount, least, "%+v", record)
		require.LessOrEqual(t, decision.Amount, most)
		require.True(t, permits(decision.Amount, n.DecayAfterRound()), "%d is beyond the limits", decision.Amount)
		if u := p.Of(outcome(decision.Amount)); record.Fallback == "" {
			require.GreaterOrEqual(t, u, floor, "%+v", record)
			require.LessOrEqual(t, u, ceiling)
		} else {
			require.Equal(t, assessed.Move.Outcome, outcome(decision.Amount), "the strategy's own move")
		}
	case agent.Accept:
		require.True(t, turn.CanAccept())
		require.True(t, permits(turn.Standing(), n.Decay()), "%d is beyond the limits", turn.Standing())
		require.True(t, assessed.Move.Move == bargain.MoveAccept || p.Of(outcome(turn.Standing())) >= floor)
	case agent.Reject:
		if record.Fallback == "" {
			require.True(t, options.MayWalkAway)
		} else {
			require.Equal(t, bargain.MoveEnd, assessed.Move.Move)
		}
	default:
		require.Fail(t, "unexpected decision", "%T", decision)
	}
	if errors.Is(turn.Invalid, agent.ErrBeyondLimit) {
		require.NotEmpty(t, record.Fallback)
	}
}
