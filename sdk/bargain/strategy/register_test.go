package strategy_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

// register registers a strategy until the test ends.
func register(t *testing.T, e strategy.Entry) {
	strategy.Register(e)
	t.Cleanup(func() { strategy.Unregister(e.Name) })
}

// tough is a strategy with one parameter.
func tough() strategy.Entry {
	return strategy.Entry{
		Name: "tough", Aliases: []string{"stubborn"}, Summary: "concedes last",
		Parameters: []strategy.Parameter{{
			Name: "e", Summary: "exponent", Default: 20 * fixed.One, Min: fixed.One, Max: 100 * fixed.One,
		}},
		New: func(v []fixed.Number) bargain.Strategy { return strategy.Aspiration(v[0]) },
	}
}

func TestRegisteredStrategiesAreParsedAndListed(t *testing.T) {
	_, err := strategy.Parse("tough")
	require.ErrorContains(t, err, `"tough" is none of`)
	register(t, tough())
	for text, want := range map[string]string{
		"tough": "tough", "tough:e=20": "tough", "stubborn:e=50": "tough:e=50",
		`{"name":"stubborn","parameters":{"e":50}}`: "tough:e=50",
	} {
		entry, err := strategy.Parse(text)
		require.NoError(t, err)
		require.Equal(t, want, entry.String())
	}
	entry, err := strategy.Parse("tough:e=50")
	require.NoError(t, err)
	require.Equal(t, strategy.Aspiration(50*fixed.One), entry.Strategy)
	require.Equal(t, strategy.Aspiration(20*fixed.One), strategy.Named()["tough"])
	require.IsIncreasing(t, strategy.Names())
	require.Contains(t, strategy.Names(), "tough")
}

func TestInvalidRegistrationsPanic(t *testing.T) {
	for want, change := range map[string]func(*strategy.Entry){
		`"linear": the name "linear" is taken`:      func(e *strategy.Entry) { e.Name = "linear" },
		`"tft": the name "tft" is taken`:            func(e *strategy.Entry) { e.Name = "tft" },
		`"tough": the name "boulware" is taken`:     func(e *strategy.Entry) { e.Aliases = []string{"boulware"} },
		`"tough": the name "micro" is taken`:        func(e *strategy.Entry) { e.Aliases = []string{"micro"} },
		`"optimal": the name "optimal" is reserved`: func(e *strategy.Entry) { e.Name = "optimal" },
		`"llm": the name "llm" is reserved`:         func(e *strategy.Entry) { e.Name = "llm" },
		`"": the name "" must be up to 32 lower-case letters, digits and hyphens`: func(e *strategy.Entry) {
			e.Name = ""
		},
		`"a:b": the name "a:b" must be up to 32 lower-case letters, digits and hyphens`: func(e *strategy.Entry) {
			e.Name = "a:b"
		},
		`"tough": the summary must be one line`:                                                     func(e *strategy.Entry) { e.Summary = "a\nb" },
		`"tough": two parameters are named "e"`:                                                     func(e *strategy.Entry) { e.Parameters = append(e.Parameters, e.Parameters[0]) },
		`"tough": parameter e: the default 200 must be from 1 to 100`:                               func(e *strategy.Entry) { e.Parameters[0].Default = 200 * fixed.One },
		`"tough": the parameter's name "E" must be up to 32 lower-case letters, digits and hyphens`: func(e *strategy.Entry) { e.Parameters[0].Name = "E" },
		`"tough": parameters and New belong together`:                                               func(e *strategy.Entry) { e.Parameters = nil },
		`"tough": set New or Strategy, not both`:                                                    func(e *strategy.Entry) { e.Strategy = strategy.Linear() },
		`"tough": strategy not set`: func(e *strategy.Entry) {
			e.New = func([]fixed.Number) bargain.Strategy { return nil }
		},
	} {
		e := tough()
		change(&e)
		require.PanicsWithValue(t, "strategy: Register "+want, func() { strategy.Register(e) })
	}
	_, err := strategy.Parse("tough")
	require.Error(t, err, "an invalid registration has an effect")
}

// TestRegistrationIsSafeForConcurrentUse registers, lists and parses at the same time, for the race detector.
func TestRegistrationIsSafeForConcurrentUse(t *testing.T) {
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			e := tough()
			e.Name, e.Aliases = fmt.Sprintf("tough-%d", i), nil
			register(t, e)
			parsed, err := strategy.Parse(e.Name + ":e=50")
			if err != nil || parsed.String() != e.Name+":e=50" || len(strategy.List()) == 0 {
				t.Errorf("%s: %v", parsed, err)
			}
		})
	}
	group.Wait()
}
