package strategy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

func TestListsAreSplitBetweenStrategies(t *testing.T) {
	for list, want := range map[string][]string{
		"":                                 {""},
		"micro":                            {"micro"},
		"micro, linear":                    {"micro", "linear"},
		"genius-boulware:e=0.5,k=.1,micro": {"genius-boulware:e=0.5,k=.1", "micro"},
		"micro,boulware:e=4,conceder:e=.1": {"micro", "boulware:e=4", "conceder:e=.1"},
		`{"name":"genius-boulware","parameters":{"e":0.5,"k":0.1}}, micro`: {
			`{"name":"genius-boulware","parameters":{"e":0.5,"k":0.1}}`, "micro",
		},
		`micro, {"name":"linear"},tft:kindness=0.1`: {"micro", `{"name":"linear"}`, "tft:kindness=0.1"},
		"llm:openai:a,linear":                       {"llm:openai:a", "linear"},
		`{"name":"linear",micro`:                    {`{"name":"linear",micro`},
		"micro,":                                    {"micro", ""},
		`{"name":"linear"}x,micro`:                  {`{"name":"linear"}x`, "micro"},
	} {
		require.Equal(t, want, strategy.Split(list), list)
	}
}

// TestListsOfCanonicalTextsAreSplit joins any canonical texts, and splits them again.
func TestListsOfCanonicalTextsAreSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			entry, arguments := drawn(t)
			if slices.Sort(arguments); len(arguments) == 0 {
				return entry.Name
			}
			return entry.Name + ":" + strings.Join(arguments, ",")
		}), 1, 5).Draw(t, "texts")
		require.Equal(t, texts, strategy.Split(strings.Join(texts, ",")))
	})
}
