package llm

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// drawPreferences draws preferences over a price, sometimes with colours. Low, high or arbitrary prices are
// good.
func drawPreferences(t *rapid.T) *bargain.Preferences {
	prices := rapid.Uint64Range(1, 60).Draw(t, "prices")
	issues := []bargain.Issue{bargain.Price("price", 100, 100+7*(prices-1), 7)}
	parts := []utility.Values{nil}
	switch rapid.IntRange(0, 2).Draw(t, "shape") {
	case 0:
		parts[0] = utility.Line{First: fixed.One, Count: prices}
	case 1:
		parts[0] = utility.Line{Last: fixed.One, Count: prices}
	case 2:
		table := make(utility.Table, prices)
		for at := range table {
			table[at] = fixed.Number(rapid.Int64Range(0, int64(fixed.One)).Draw(t, "part"))
		}
		parts[0] = table
	}
	weights := []fixed.Number{fixed.One / 4 * 3}
	if rapid.Bool().Draw(t, "colours") {
		issues = append(issues, bargain.Categorical("colour", "red", "green", "blue"))
		parts, weights = append(parts, utility.Table{fixed.One, 0, fixed.One / 3}), append(weights, fixed.One/4)
	}
	domain, err := bargain.NewDomain(issues...)
	require.NoError(t, err)
	u, err := utility.NewAdditive(domain, 0, weights, parts...)
	require.NoError(t, err)
	reservation := rapid.Int64Range(0, int64(fixed.One)).Draw(t, "reservation")
	p, err := bargain.NewPreferences(domain, u, fixed.Number(reservation))
	require.NoError(t, err)
	return p
}

// TestCorrectionIsTheNearestPriceInTheBand compares with a search of all prices.
func TestCorrectionIsTheNearestPriceInTheBand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPreferences(t)
		domain := p.Domain()
		outcome := func(name string) bargain.Outcome {
			return bargain.Outcome(rapid.Uint64Max(domain.Size()-1).Draw(t, name))
		}
		a := &bargain.Assessment{Preferences: p, Target: outcome("target"), State: bargain.State{
			Least: rapid.Uint64Range(0, 300).Draw(t, "least"), Most: rapid.Uint64Range(100, 600).Draw(t, "most"),
		}}
		slack, lead := rapid.Uint16Range(0, 5_000).Draw(t, "slack"), rapid.Uint16Range(0, bps).Draw(t, "lead")
		b, ok := newBand(a, slack, lead)
		if !ok {
			require.True(t, p.Of(a.Target) < p.Reservation())
			return
		}
		require.GreaterOrEqual(t, b.floor, p.Reservation())
		require.LessOrEqual(t, b.floor, p.Of(a.Target))
		require.GreaterOrEqual(t, b.ceiling, p.Of(a.Target))
		offered := outcome("offered")
		best, distance := bargain.NoOutcome, uint64(1<<63)
		for at := range domain.Issue(0).Count {
			moved := domain.With(offered, 0, at)
			far := max(at, domain.Value(offered, 0)) - min(at, domain.Value(offered, 0))
			if b.has(moved) && far < distance {
				best, distance = moved, far
			}
		}
		corrected, correction := b.correct(offered)
		if best == bargain.NoOutcome {
			require.Equal(t, best, corrected)
			return
		}
		require.True(t, b.has(corrected))
		was, is := domain.Value(offered, 0), domain.Value(corrected, 0)
		require.Equal(t, distance, max(was, is)-min(was, is), "%d instead of %d for %d", corrected, best, offered)
		require.Equal(t, distance == 0, correction == "")
		unknown, _ := b.correct(bargain.Outcome(domain.Size()))
		require.Equal(t, bargain.NoOutcome, unknown)
	})
}

// TestCandidatesAreInTheBand checks that candidates are different, inside the band, sorted by utility, and
// include the strategy's offer.
func TestCandidatesAreInTheBand(t *testing.T) {
	several := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawPreferences(t)
		a := &bargain.Assessment{Preferences: p, Rounds: 8, Round: 4, State: bargain.State{Most: 1 << 40, Steps: 4}}
		outcome := func() bargain.Outcome {
			return bargain.Outcome(rapid.Uint64Max(p.Domain().Size()-1).Draw(t, "outcome"))
		}
		a.Target = outcome()
		for round := range 4 {
			a.State.History = append(a.State.History, bargain.Offer{By: round % 2, Outcome: outcome()})
		}
		b, ok := newBand(a, 1_000, 1_000)
		if !ok {
			return
		}
		list, _ := suggest(&b, a, p.Domain().Len() == 1)
		known, own := map[bargain.Outcome]bool{}, false
		for i, c := range list {
			require.True(t, b.has(c.outcome))
			require.False(t, known[c.outcome])
			known[c.outcome] = true
			own = own || c.outcome == a.Target
			require.True(t, i == 0 || p.Of(list[i-1].outcome) <= p.Of(c.outcome))
		}
		require.True(t, own)
		require.LessOrEqual(t, len(list), maxCandidates)
		if len(list) > 2 {
			several++
		}
	})
	require.Positive(t, several)
}
