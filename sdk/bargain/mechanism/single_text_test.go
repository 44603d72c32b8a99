package mechanism_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// complexVoters returns parties over 4^6 outcomes with random hyper-rectangles; the utilities include local
// optima.
func complexVoters(t require.TestingT, seed uint64, temperature fixed.Number) []mechanism.Voter {
	var issues []bargain.Issue
	for at := range 6 {
		issues = append(issues, bargain.Integer(string(rune('a'+at)), 0, 3))
	}
	domain, err := bargain.NewDomain(issues...)
	require.NoError(t, err)
	random := bargain.NewRandom(seed, 9)
	voters := make([]mechanism.Voter, 2)
	for self := range voters {
		var rectangles []utility.Rectangle
		for range 40 {
			r := utility.Rectangle{Value: fixed.Number(random.Below(uint64(fixed.One) / 20))}
			for range 3 {
				value := random.Below(4)
				r.Ranges = append(r.Ranges, utility.Range{Issue: int(random.Below(6)), First: value, Last: value})
			}
			rectangles = append(rectangles, r)
		}
		u, err := utility.NewHyperRectangle(domain, 0, rectangles...)
		require.NoError(t, err)
		voters[self].Preferences, err = bargain.NewPreferences(domain, u, 0)
		require.NoError(t, err)
		voters[self].Temperature = temperature
	}
	return voters
}

func TestVetoNeverHurtsAParty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		voters := complexVoters(t, rapid.Uint64().Draw(t, "seed"), 0)
		single := mechanism.SingleText{Rounds: 300, Jump: rapid.Bool().Draw(t, "jump")}
		result, err := single.Run(1, voters...)
		require.NoError(t, err)
		require.Equal(t, bargain.EndingAgreement, result.Ending)
		for at := 1; at < len(result.History); at++ {
			for _, voter := range voters {
				require.GreaterOrEqual(t, voter.Preferences.Of(result.History[at].Outcome),
					voter.Preferences.Of(result.History[at-1].Outcome))
			}
		}
		again, err := single.Run(1, voters...)
		require.NoError(t, err)
		require.Equal(t, result, again)
	})
}

// TestAnnealingFindsMoreThanClimbing checks the result in Klein et al.: in complex domains annealing parties
// and mediators reach a higher sum.
func TestAnnealingFindsMoreThanClimbing(t *testing.T) {
	var climbing, annealing, secure fixed.Number
	for seed := range uint64(30) {
		for sum, temperature := range map[*fixed.Number]fixed.Number{&climbing: 0, &annealing: fixed.One / 20} {
			voters := complexVoters(t, seed, temperature)
			result, err := mechanism.SingleText{Rounds: 3_000}.Run(seed, voters...)
			require.NoError(t, err)
			for _, voter := range voters {
				*sum += voter.Preferences.Of(result.Agreement)
			}
		}
		voters := complexVoters(t, seed, 0)
		result, err := mechanism.SingleText{
			Rounds: 3_000, Rule: mechanism.RuleSum, Temperature: fixed.One / 10,
		}.Run(seed, voters...)
		require.NoError(t, err)
		for _, voter := range voters {
			secure += voter.Preferences.Of(result.Agreement)
		}
	}
	require.Greater(t, annealing, climbing)
	require.Greater(t, secure, annealing)
}

// TestTheSumRuleDividesTheSumEvenly uses three texts where no single issue change leads on, so searches can
// end at any of the three.
func TestTheSumRuleDividesTheSumEvenly(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Integer("a", 0, 2), bargain.Integer("b", 0, 2))
	require.NoError(t, err)
	high, even, poor := domain.Outcome(0, 0), domain.Outcome(1, 1), domain.Outcome(2, 2)
	ends := map[bargain.Outcome][2]fixed.Number{high: {9, 1}, even: {5, 4}, poor: {3, 3}}
	for _, test := range []struct {
		name         string
		reservations [2]fixed.Number // in units
		unit         fixed.Number
		want         bargain.Outcome
	}{
		// The shares: .9 and .1, .56 and .44, and .5 twice; but (5, 4) dominates (3, 3).
		{"the most even efficient text", [2]fixed.Number{}, fixed.One, even},
		{"of small gains", [2]fixed.Number{}, 1, even},
		{"of large gains", [2]fixed.Number{}, 100_000 * fixed.One, even},
		// The gains: (4, 1) and (0, 4).
		{"gains are over the reservation values", [2]fixed.Number{5, 0}, fixed.One, high},
		{"nobody gains", [2]fixed.Number{5, 4}, fixed.One, even},
		{"nothing is rational", [2]fixed.Number{10, 0}, fixed.One, bargain.NoOutcome},
	} {
		voters := make([]mechanism.Voter, 2)
		for self := range voters {
			values := make([]fixed.Number, domain.Size())
			for text, gains := range ends {
				values[text] = gains[self] * test.unit
			}
			u, err := utility.NewMapping(domain, values)
			require.NoError(t, err)
			voters[self].Preferences, err = bargain.NewPreferences(domain, u, test.reservations[self]*test.unit)
			require.NoError(t, err)
		}
		single := mechanism.SingleText{Rounds: 50, Rule: mechanism.RuleSum, Searches: 40}
		result, err := single.Run(1, voters...)
		require.NoError(t, err)
		require.Equal(t, 2_000, result.Step)
		met := map[bargain.Outcome]bool{}
		for _, offer := range result.History {
			met[offer.Outcome] = true
		}
		require.Subset(t, met, map[bargain.Outcome]bool{high: true, even: true, poor: true})
		require.Equal(t, test.want, result.Agreement, test.name)
	}
}

func TestSingleTextNeedsPartiesAndRounds(t *testing.T) {
	voters := complexVoters(t, 1, 0)
	_, err := mechanism.SingleText{}.Run(1, voters...)
	require.ErrorIs(t, err, mechanism.ErrConfig)
	_, err = mechanism.SingleText{Rounds: 1, Searches: 2}.Run(1, voters...)
	require.ErrorIs(t, err, mechanism.ErrConfig)
	_, err = mechanism.SingleText{Rounds: 1}.Run(1, voters[0])
	require.ErrorIs(t, err, mechanism.ErrConfig)
	_, err = mechanism.SingleText{Rounds: 1}.Run(1, voters[0], complexVoters(t, 2, 0)[0])
	require.ErrorIs(t, err, mechanism.ErrConfig)
}
