package game_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
)

// TestRubinsteinKnownAnswers checks shares under the formula in Rubinstein (1982), section 4. They are the
// limits of the shares in games with more and more rounds, with odd and with even numbers.
func TestRubinsteinKnownAnswers(t *testing.T) {
	for _, test := range []struct{ d1, d2, share string }{
		{"0.9", "0.9", "0.5263"}, {"0.95", "0.95", "0.5128"}, {"0.9", "0.8", "0.7143"},
		{"0.8", "0.9", "0.3571"}, {"0.5", "0.5", "0.6667"}, {"0", "0", "1"}, {"1", "0.5", "1"},
		{"0.5", "1", "0"}, {"0", "0.3", "0.7"},
	} {
		share, ok := game.Rubinstein(number(t, test.d1), number(t, test.d2))
		require.True(t, ok)
		want := number(t, test.share).Float()
		require.InDelta(t, want, share.Float(), 0.00005, "%s, %s", test.d1, test.d2)
		for rounds := 300; rounds <= 301; rounds++ {
			finite, ok := game.FiniteRubinstein(number(t, test.d1), number(t, test.d2), rounds)
			require.True(t, ok)
			require.InDelta(t, want, finite.Float(), 0.00005, "%s, %s: %d rounds", test.d1, test.d2, rounds)
		}
	}
	for _, invalid := range [][2]fixed.Number{{fixed.One, fixed.One}, {-1, 0}, {0, fixed.One + 1}} {
		_, ok := game.Rubinstein(invalid[0], invalid[1])
		require.False(t, ok)
	}
}

func number(t require.TestingT, text string) fixed.Number {
	n, err := fixed.Parse(text)
	require.NoError(t, err)
	return n
}

// TestFiniteGameConverges: the infinite game's share is the limit of the finite game's. Every further round
// reduces the difference by a factor, so the factors' product bounds the difference.
func TestFiniteGameConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		factor := rapid.Int64Range(0, int64(fixed.One)*99/100)
		d := [2]fixed.Number{fixed.Number(factor.Draw(t, "d1")), fixed.Number(factor.Draw(t, "d2"))}
		limit, ok := game.Rubinstein(d[0], d[1])
		require.True(t, ok)
		bound := fixed.One
		for rounds := 1; rounds <= 600; rounds++ {
			share, ok := game.FiniteRubinstein(d[0], d[1], rounds)
			require.True(t, ok)
			// The rounding errors over all rounds sum to 1/(1-0.99) times a single error at most.
			require.InDelta(t, 0, float64(share-limit), float64(bound)+200, "%d rounds", rounds)
			bound = bound.Mul(d[rounds%2])
		}
	})
}

// TestFiniteGameByHand checks the first rounds: 1, 1 - .8, 1 - .8 (1 - .9), 1 - .8 (1 - .9 (1 - .8)).
func TestFiniteGameByHand(t *testing.T) {
	for at, want := range []string{"1", "0.2", "0.92", "0.344"} {
		share, ok := game.FiniteRubinstein(number(t, "0.9"), number(t, "0.8"), at+1)
		require.True(t, ok)
		require.Equal(t, number(t, want), share)
	}
	_, ok := game.FiniteRubinstein(0, 0, 0)
	require.False(t, ok)
}

// TestFixedCosts checks conclusion 2 in Rubinstein (1982), section 5.
func TestFixedCosts(t *testing.T) {
	for _, test := range []struct{ c1, c2, least, most string }{
		{"0.1", "0.05", "0.05", "0.05"}, {"0.05", "0.1", "1", "1"}, {"0.1", "0.1", "0.1", "1"},
	} {
		least, most, ok := game.FixedCosts(number(t, test.c1), number(t, test.c2))
		require.True(t, ok)
		require.Equal(t, number(t, test.least), least)
		require.Equal(t, number(t, test.most), most)
	}
	_, _, ok := game.FixedCosts(0, fixed.One)
	require.False(t, ok)
}
