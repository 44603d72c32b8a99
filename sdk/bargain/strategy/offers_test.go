package strategy_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// preferences returns those of two parties over price, colour and days, with opposed but not equal weights.
func preferences(t *testing.T) (list []*bargain.Preferences) {
	domain, err := bargain.NewDomain(bargain.Price("price", 1_000, 9_000, 7),
		bargain.Categorical("colour", "red", "green", "blue"), bargain.Integer("days", -3, 8))
	require.NoError(t, err)
	for self := range 2 {
		price := utility.Line{Last: fixed.One, Count: domain.Issue(0).Count}
		days := utility.Line{First: fixed.One, Count: 12}
		colour := utility.Table{fixed.One / 3, fixed.One, 0}
		weights := []fixed.Number{fixed.One / 2, fixed.One / 5, fixed.One / 10 * 3}
		if self == 1 {
			price.First, price.Last, days.First, days.Last = price.Last, price.First, days.Last, days.First
			weights = []fixed.Number{fixed.One / 7, fixed.One / 7, fixed.One / 7 * 5}
		}
		u, err := utility.NewAdditive(domain, 0, weights, price, colour, days)
		require.NoError(t, err)
		p, err := bargain.NewPreferences(domain, u, fixed.One/10*3)
		require.NoError(t, err)
		list = append(list, p)
	}
	return list
}

// TestOffersAreTheSameOnEveryMachine has a digest of all offers and endings of all named strategies against
// each other. It must be the same on amd64, with GOAMD64=v3, and on arm64. A change of it means that recorded
// strategies can no longer be replayed.
func TestOffersAreTheSameOnEveryMachine(t *testing.T) {
	named := strategy.Named()
	names := slices.Sorted(maps.Keys(named))
	digest := sha256.New()
	agreements := 0
	sides := preferences(t)
	for _, first := range names {
		for _, second := range names {
			result, err := mechanism.Alternating{Steps: 40}.Run(11,
				mechanism.Party{Strategy: named[first], Preferences: sides[0]},
				mechanism.Party{Strategy: named[second], Preferences: sides[1]})
			require.NoError(t, err)
			require.NotEqual(t, bargain.EndingInvalid, result.Ending, "%s, %s: %v", first, second, result.Err)
			for _, offer := range result.History {
				_ = binary.Write(digest, binary.LittleEndian, uint64(offer.Outcome))
			}
			_ = binary.Write(digest, binary.LittleEndian, []int64{
				int64(result.Ending), int64(result.Step), int64(result.By),
			})
			if result.Ending == bargain.EndingAgreement {
				agreements++
			}
		}
	}
	t.Logf("%d of %d sessions ended with an agreement", agreements, len(names)*len(names))
	require.Equal(t, "8f6a989a29942848957798ebee079ad447806d2b682caecc968be3b07ddfcf7d", hex.EncodeToString(digest.Sum(nil)))
}
