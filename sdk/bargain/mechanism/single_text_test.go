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

// complexVoters returns parties over 4^6 outcomes with random hyper-rectangles, whose utilities have local
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

// TestAnnealingFindsMoreThanClimbing has the result of Klein et al.: in complex domains annealing parties and
// mediators reach a higher sum.
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

// TestTheSumRuleChoosesTheHighestProduct has a mediator that meets all of five texts.
func TestTheSumRuleChoosesTheHighestProduct(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Integer("text", 0, 4))
	require.NoError(t, err)
	one := []int64{1, 3, 2, 1, 1} // of each party
	for _, test := range []struct {
		name        string
		utilities   [][]int64 // of each party, in units
		unit        fixed.Number
		reservation int64 // of all parties, in units
		want        bargain.Outcome
	}{
		// The products of the gains over (1, 1) are 16, 18, 16 and 6. (17, 2) has the highest sum and, without
		// the reservation values, the highest product; (5, 5) is the fairest. (-8, -8) is not rational.
		{"two parties", [][]int64{{17, 10, 5, 4, -8}, {2, 3, 5, 3, -8}}, fixed.One, 1, 1},
		{"nothing is rational", [][]int64{{17, 10, 5, 4, -8}, {2, 3, 5, 3, -8}}, fixed.One, 18, bargain.NoOutcome},
		// Five gains of 0.003 have a product of 2.43e-13, which no utility can express.
		{"small gains", [][]int64{one, one, one, one, one}, fixed.One / 1_000, 0, 1},
		// Four gains of 300,000 have a product of 8.1e21, which is beyond the highest number.
		{"large gains", [][]int64{one, one, one, one}, 100_000 * fixed.One, 0, 1},
	} {
		var voters []mechanism.Voter
		for _, values := range test.utilities {
			var numbers []fixed.Number
			for _, value := range values {
				numbers = append(numbers, fixed.Number(value)*test.unit)
			}
			u, err := utility.NewMapping(domain, numbers)
			require.NoError(t, err)
			preferences, err := bargain.NewPreferences(domain, u, fixed.Number(test.reservation)*test.unit)
			require.NoError(t, err)
			voters = append(voters, mechanism.Voter{Preferences: preferences})
		}
		result, err := mechanism.SingleText{
			Rounds: 200, Rule: mechanism.RuleSum, Temperature: bargain.MaxUtility, Jump: true,
		}.Run(1, voters...)
		require.NoError(t, err)
		met := map[bargain.Outcome]bool{}
		for _, offer := range result.History {
			met[offer.Outcome] = true
		}
		require.Len(t, met, 5, test.name)
		require.Equal(t, test.want, result.Agreement, test.name)
	}
}

func TestSingleTextNeedsPartiesAndRounds(t *testing.T) {
	voters := complexVoters(t, 1, 0)
	_, err := mechanism.SingleText{}.Run(1, voters...)
	require.ErrorIs(t, err, mechanism.ErrConfig)
	_, err = mechanism.SingleText{Rounds: 1}.Run(1, voters[0])
	require.ErrorIs(t, err, mechanism.ErrConfig)
	_, err = mechanism.SingleText{Rounds: 1}.Run(1, voters[0], complexVoters(t, 2, 0)[0])
	require.ErrorIs(t, err, mechanism.ErrConfig)
}
