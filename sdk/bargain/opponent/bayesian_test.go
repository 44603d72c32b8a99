package opponent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/opponent"
)

// TestBayesianWithNames checks against GENIUS' formulas in double precision. Before any offer, each issue's
// expected weight is the sum of j/10 (10-j)^3/3025 = 4917/30250 = .162545.
//
// The first offer is (1, 0). For the issue a, with two values, the rising hypothesis values 1 at 1 and 0 at
// 1/1001, the falling hypothesis the reverse: each has probability 1/2. For b, with three values, the rising
// hypothesis yields 1/2001, 1001/2001 and 1, the falling hypothesis the reverse, and the hypothesis peaking in
// the middle 0, 1 and 1/1001. Hypotheses are multiplied by exp(-8 (1-u)^2), where u is .162545 times the sum of
// the hypothesis' utility and the remaining issue's expected utility. u is less than 1, so hypotheses with a
// high utility gain. The estimates are normalized to 0 and 1 over the six outcomes.
func TestBayesianWithNames(t *testing.T) {
	s := seat(t, bargain.Categorical("a", "x", "y"), bargain.Ordered("b", "x", "y", "z"))
	m := opponent.Bayesian{}.Model(s)
	requireEstimates := func(want ...string) {
		t.Helper()
		for o, text := range want {
			require.InDelta(t, int64(number(t, text)), int64(m.Of(bargain.Outcome(o))), 100, "outcome %d", o)
		}
	}
	// a says nothing yet. For b the middle is best, value 0 worst by 1/1001 in a single hypothesis.
	require.Zero(t, m.Of(0))
	require.Equal(t, fixed.One, m.Of(1))
	observe(s, m, []uint64{1, 0})
	first := []string{"0.472051671223", "0.296355854671", "0", "1", "0.824304183448", "0.527948328777"}
	requireEstimates(first...)
	observe(s, m, []uint64{1, 0})
	requireEstimates(first...) // a repeated offer changes nothing
	observe(s, m, []uint64{1, 1})
	requireEstimates("0.348732101715", "0.275986675172", "0", "1", "0.927254573457", "0.651267898285")
	observe(s, m, []uint64{1, 2})
	requireEstimates("0.23416992344", "0.202642635755", "0", "1", "0.968472712315", "0.76583007656")
}

// TestBayesianWithNumbers checks against GENIUS' formulas in double precision, for a real issue over 0 to 10
// and an issue with four names.
func TestBayesianWithNumbers(t *testing.T) {
	s := seat(t, bargain.Real("real", 0, 10*fixed.One, fixed.One/4),
		bargain.Categorical("b", "w", "x", "y", "z"))
	m := opponent.Bayesian{}.Model(s)
	outcomes := [][]uint64{{40, 0}, {28, 0}, {20, 0}, {0, 0}, {40, 1}, {40, 3}, {12, 2}} // quarters
	for _, step := range []struct {
		offer []uint64
		want  []string
	}{
		{[]uint64{40, 0}, []string{"0.983492399519", "0.976099544326", "0.906862462367", "0.530126136678",
			"0.893540327628", "0.453366262842", "0.528111530042"}},
		{[]uint64{36, 0}, []string{"1", "0.887591330057", "0.793497620174", "0.533680173373",
			"0.824504667625", "0.466319826627", "0.340151426868"}},
		{[]uint64{32, 3}, []string{"1", "0.877002894859", "0.749392251614", "0.427944521661",
			"0.859310519132", "0.572055478339", "0.33762681991"}},
		{[]uint64{28, 0}, []string{"1", "0.878581864434", "0.755852530248", "0.446843678119",
			"0.851295622798", "0.553156321881", "0.334701262273"}},
	} {
		observe(s, m, step.offer)
		for i, outcome := range outcomes {
			u := m.Of(s.Preferences.Domain().Outcome(outcome...))
			require.InDelta(t, int64(number(t, step.want[i])), int64(u), 100, "%v after %v", outcome, step.offer)
		}
	}
}

// TestBayesianAfterManyOffers checks against GENIUS' formulas after 40 offers: the real number falls from 10 in
// steps of 1/40; the names take turns. In GENIUS improbable hypotheses fall below 10^-12.
func TestBayesianAfterManyOffers(t *testing.T) {
	s := seat(t, bargain.Real("real", 0, 10*fixed.One, fixed.One/40),
		bargain.Categorical("b", "w", "x", "y", "z"))
	m := opponent.Bayesian{}.Model(s)
	for n := range uint64(40) {
		observe(s, m, []uint64{400 - n, n % 4})
	}
	for _, test := range []struct {
		fortieths, b uint64
		want         string
	}{
		{400, 0, "1"}, {280, 0, "0.79334484592"}, {200, 0, "0.6555747432"}, {0, 0, "0.3111494864"},
		{400, 1, "0.897964280909"}, {400, 3, "0.6888505136"}, {120, 2, "0.31140329496"},
	} {
		u := m.Of(s.Preferences.Domain().Outcome(test.fortieths, test.b))
		require.InDelta(t, int64(number(t, test.want)), int64(u), 1_000_000, "%d, %d", test.fortieths, test.b)
	}
}

func TestBayesianLearnsTheDirectionOfAnIssue(t *testing.T) {
	s := seat(t, bargain.Integer("price", 0, 100), bargain.Ordered("quality", "a", "b", "c"))
	m := opponent.Bayesian{}.Model(s)
	domain := s.Preferences.Domain()
	for n := range uint64(20) {
		observe(s, m, []uint64{100 - n, n % 3})
	}
	require.Greater(t, m.Of(domain.Outcome(100, 1)), m.Of(domain.Outcome(50, 1)))
	require.Greater(t, m.Of(domain.Outcome(50, 1)), m.Of(domain.Outcome(0, 1)))
	// The price, which hardly changes, matters more than the quality.
	price := m.Of(domain.Outcome(100, 1)) - m.Of(domain.Outcome(0, 1))
	quality := m.Of(domain.Outcome(100, 1)) - m.Of(domain.Outcome(100, 0))
	require.Greater(t, price, quality)
}

// TestBayesianStaysValid uses the concession .5: the assumed utility for the third offer is 0, and GENIUS
// divides by 0 here. Opponents conceding as GENIUS assumes get there with offer 335.
func TestBayesianStaysValid(t *testing.T) {
	s := seat(t, bargain.Categorical("a", "x", "y"), bargain.Ordered("b", "x", "y", "z"))
	m := opponent.Bayesian{Concession: fixed.One / 2}.Model(s)
	estimates := func() (list [6]fixed.Number) {
		for o := range list {
			list[o] = m.Of(bargain.Outcome(o))
		}
		return list
	}
	observe(s, m, []uint64{1, 0})
	first := estimates()
	observe(s, m, []uint64{1, 1})
	second := estimates()
	require.NotEqual(t, first, second)
	observe(s, m, []uint64{0, 2})
	require.Equal(t, second, estimates())

	single := opponent.Bayesian{}.Model(seat(t, bargain.Categorical("c", "only"), bargain.Integer("i", 3, 3)))
	single.Observe(bargain.Offer{})
	require.Zero(t, single.Of(0), "no outcome is better than another")
}

// TestBayesianKeepsUnlikelyHypotheses checks that the model can reverse an estimate: the opponent first
// offers low numbers, then high numbers.
func TestBayesianKeepsUnlikelyHypotheses(t *testing.T) {
	s := seat(t, bargain.Real("real", 0, fixed.One, fixed.One/1000), bargain.Categorical("b", "x", "y", "z"))
	m := opponent.Bayesian{Deviation: fixed.One / 100}.Model(s)
	for n := range uint64(30) {
		observe(s, m, []uint64{n, n % 3})
	}
	low := m.Of(s.Preferences.Domain().Outcome(0, 0))
	for n := range uint64(200) {
		observe(s, m, []uint64{1000 - n, n % 3})
	}
	require.NotEqual(t, low, m.Of(s.Preferences.Domain().Outcome(0, 0)))
}
