package opponent_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/opponent"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

func seat(t require.TestingT, issues ...bargain.Issue) bargain.Seat {
	domain, err := bargain.NewDomain(issues...)
	require.NoError(t, err)
	var values []utility.Values
	for _, issue := range issues {
		values = append(values, utility.Line{Last: fixed.One, Count: issue.Count})
	}
	u, err := utility.NewAdditive(domain, 0, nil, values...)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, u, 0)
	require.NoError(t, err)
	return bargain.Seat{Preferences: p, Parties: 2, Random: bargain.NewRandom(1, 1)}
}

func observe(seat bargain.Seat, m bargain.Model, offers ...[]uint64) {
	for _, offer := range offers {
		m.Observe(bargain.Offer{Outcome: seat.Preferences.Domain().Outcome(offer...)})
	}
}

func number(t *testing.T, text string) fixed.Number {
	n, err := fixed.Parse(text)
	require.NoError(t, err)
	return n
}

// TestHardHeaded checks against GENIUS' code, computed by hand: two issues, each gaining .1.
func TestHardHeaded(t *testing.T) {
	s := seat(t, bargain.Categorical("a", "x", "y"), bargain.Categorical("b", "x", "y"))
	m := opponent.HardHeaded{}.Model(s)
	observe(s, m, []uint64{0, 0})
	require.Equal(t, fixed.One, m.Of(3), "one offer teaches nothing")
	observe(s, m, []uint64{0, 1})
	// a is unchanged: weights (.5+.1)/1.1 and .5/1.1; counts a: x 2, y 1; b: x 1, y 2.
	require.InDelta(t, int64(number(t, "1")), int64(m.Of(1)), 4)
	require.InDelta(t, int64(number(t, "0.772727272727")), int64(m.Of(0)), 4, ".545454 + .454545/2")
	require.InDelta(t, int64(number(t, "0.727272727273")), int64(m.Of(3)), 4, ".545454/2 + .454545")
}

// TestHardHeadedWeightsHaveAMaximum uses the learning coefficient .6: two issues each gain .3; issue 0 never
// changes. The total is 1.3, the maximum 1 - .6/1.3 = .538462. The weights are (.5+.3)/1.3 = .615385 and .5/1.3
// = .384615; then .615385/1.3 = .473373, because it exceeds the maximum, and .295858; then (.473373+.3)/1.3 =
// .594902 and .227583. The second issue's values x and y are counted 2 and 2 times, then 3 and 2 times.
func TestHardHeadedWeightsHaveAMaximum(t *testing.T) {
	s := seat(t, bargain.Categorical("a", "x", "y"), bargain.Categorical("b", "x", "y"))
	m := opponent.HardHeaded{Learning: fixed.One / 10 * 6}.Model(s)
	observe(s, m, []uint64{0, 1}, []uint64{0, 0}, []uint64{0, 1})
	require.InDelta(t, int64(number(t, "0.769230769231")), int64(m.Of(0)), 4, ".473373 + .295858")
	observe(s, m, []uint64{0, 0})
	require.InDelta(t, int64(number(t, "0.822485207101")), int64(m.Of(0)), 4, ".594902 + .227583")
	require.InDelta(t, int64(number(t, "0.746624184494")), int64(m.Of(1)), 4, ".594902 + .227583 * 2/3")
	require.InDelta(t, int64(number(t, "0.376308602639")), int64(m.Of(2)), 4, ".594902/4 + .227583")
}

func TestSmith(t *testing.T) {
	s := seat(t, bargain.Categorical("a", "x", "y"), bargain.Categorical("b", "x", "y"))
	m := opponent.Smith{}.Model(s)
	require.Zero(t, m.Of(0))
	observe(s, m, []uint64{0, 0}, []uint64{0, 1}, []uint64{0, 0})
	// Weights 1 and 2/3, normalized .6 and .4; shares a: 1, 0; b: 1, 1/2.
	require.Equal(t, fixed.One, m.Of(0))
	require.InDelta(t, int64(number(t, "0.8")), int64(m.Of(1)), 2)
	require.InDelta(t, int64(number(t, "0.4")), int64(m.Of(2)), 2)
}

func TestEstimatesAreUtilities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := seat(t, bargain.Price("price", 0, rapid.Uint64Max(1<<60).Draw(t, "most"), 1),
			bargain.Categorical("c", "x", "y", "z"), bargain.Ordered("o", "only"))
		size := s.Preferences.Domain().Size()
		for _, modeling := range []bargain.Modeling{
			opponent.HardHeaded{}, opponent.Smith{}, opponent.NashFrequency{}, opponent.Bayesian{},
		} {
			m := modeling.Model(s)
			for range rapid.IntRange(0, 30).Draw(t, "offers") {
				m.Observe(bargain.Offer{Outcome: bargain.Outcome(s.Random.Below(size))})
				u := m.Of(bargain.Outcome(s.Random.Below(size)))
				require.True(t, -10 <= u && u <= fixed.One+10, "%T: %s", modeling, u)
			}
		}
	})
}
