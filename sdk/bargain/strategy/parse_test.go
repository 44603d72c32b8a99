package strategy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

func TestParseReadsNamesParametersAndJSON(t *testing.T) {
	for text, want := range map[string]string{
		"linear":                                   "linear",
		" micro ":                                  "micro",
		"negmas-boulware:e=6":                      "negmas-boulware:e=6",
		"negmas-boulware:e=4":                      "negmas-boulware",
		"boulware:e=4":                             "negmas-boulware",
		"boulware:e=6.50":                          "negmas-boulware:e=6.5",
		"conceder:e=1e-1":                          "negmas-conceder:e=0.1",
		"tft:kindness=0.1":                         "negmas-tit-for-tat:kindness=0.1",
		"tft:kindness=-.25":                        "negmas-tit-for-tat:kindness=-0.25",
		"tit-for-tat:delay=2":                      "tit-for-tat:delay=2",
		"genius-boulware:k=0.2,e=0.5":              "genius-boulware:e=0.5,k=0.2",
		"genius-boulware:k=0.2,e=0.2":              "genius-boulware:k=0.2",
		`{"name":"linear"}`:                        "linear",
		`{"name":"boulware","parameters":{"e":6}}`: "negmas-boulware:e=6",
		` { "parameters" : {"k": 2e-1, "e": 0.5}, "name": "genius-boulware" } `: "genius-boulware:e=0.5,k=0.2",
		`{"name":"micro","parameters":{}}`:                                      "micro",
	} {
		entry, err := strategy.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, entry.String(), text)
	}
}

func TestParseReportsWhatIsWrong(t *testing.T) {
	names := strings.Join(strategy.Names(), ", ")
	form := `JSON must be {"name":"...","parameters":{"key":number}}`
	for text, want := range map[string]string{
		"":                                 `"" is none of ` + names,
		"boulwar:e=4":                      `"boulwar" is none of ` + names,
		"micro:e=4":                        `micro has no parameters`,
		"boulware:f=4":                     `negmas-boulware has no parameter "f": use e`,
		"hybrid:e=4":                       `hybrid has no parameter "e": use start, middle, end, empathy`,
		"boulware:e=0.5":                   `negmas-boulware: e must be from 1 to 100, not 0.5`,
		"boulware:e=1e9":                   `negmas-boulware: e must be from 1 to 100, not 1e9`,
		"tft:kindness=-1.1":                `negmas-tit-for-tat: kindness must be from -1 to 1, not -1.1`,
		"tit-for-tat:delay=1.5":            `tit-for-tat: delay must be a whole number from 1 to 100, not 1.5`,
		"boulware:e=four":                  `negmas-boulware: e: "four" is not a decimal number`,
		"boulware:e=NaN":                   `negmas-boulware: e: "NaN" is not a decimal number`,
		"boulware:e=":                      `negmas-boulware: e: "" is not a decimal number`,
		"boulware:e=4,e=5":                 `negmas-boulware: e is given twice`,
		"boulware:":                        `boulware: "" is not a parameter with its value, such as e=4`,
		"boulware:e":                       `boulware: "e" is not a parameter with its value, such as e=4`,
		"genius-boulware:e=0.5, k=.1":      `genius-boulware has no parameter " k": use e, k`,
		`{}`:                               form + `: name not set`,
		`{"name":"linear","name":"micro"}`: form + `: "name" is given twice`,
		`{"name":"boulware","parameters":{"e":6,"e":7}}`: `negmas-boulware: e is given twice`,
		`{"name":"boulware","parameters":{"e":"6"}}`:     form + `: wrong value 6`,
		`{"name":"boulware","parameters":[6]}`:           form + `: [ where { must be`,
		`{"name":"boulware","parameters":null}`:          form + `: <nil> where { must be`,
		`{"name":"boulware","e":6}`:                      form + `: unknown field "e"`,
		`{"Name":"boulware"}`:                            form + `: unknown field "Name"`,
		`{"name":7}`:                                     form + `: wrong value 7`,
		`{"name":"linear"} micro`:                        form + `: text after the object`,
		`{"name":"boulware","parameters":{"e":101}}`:     `negmas-boulware: e must be from 1 to 100, not 101`,
	} {
		_, err := strategy.Parse(text)
		require.EqualError(t, err, want, text)
	}
	for _, text := range []string{"{", `{"name":`, `{"name":"linear"`, `{"name":"linear",}`, `{"name":"boulware","parameters":{"e":6}`} {
		_, err := strategy.Parse(text)
		require.ErrorContains(t, err, form+": ", text)
	}
}

// TestPlainNamesAreCanonical checks that strategies with no parameters keep the text used in older proofs,
// records and tables.
func TestPlainNamesAreCanonical(t *testing.T) {
	for _, listed := range strategy.List() {
		parsed, err := strategy.Parse(listed.Name)
		require.NoError(t, err)
		require.Equal(t, listed.Name, parsed.String())
		require.Equal(t, listed.Strategy, parsed.Strategy, listed.Name)
		for _, alias := range listed.Aliases {
			parsed, err := strategy.Parse(alias)
			require.NoError(t, err)
			require.Equal(t, listed.Name, parsed.String())
		}
	}
}

// drawn draws a strategy with values of some parameters, as arguments in any order.
func drawn(t *rapid.T) (entry strategy.Entry, arguments []string) {
	entry = rapid.SampledFrom(strategy.List()).Draw(t, "strategy")
	for _, p := range rapid.Permutation(entry.Parameters).Draw(t, "order") {
		if !rapid.Bool().Draw(t, "given") {
			continue
		}
		value := fixed.Number(rapid.Int64Range(int64(p.Min), int64(p.Max)).Draw(t, p.Name))
		if p.IsWhole {
			value -= value % fixed.One
		}
		arguments = append(arguments, p.Name+"="+value.String())
	}
	return entry, arguments
}

// TestCanonicalTextIsReadBack compares the strategies parsed from a text, from the canonical text and from
// equivalent JSON.
func TestCanonicalTextIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entry, arguments := drawn(t)
		text := entry.Name
		if len(arguments) > 0 {
			text += ":" + strings.Join(arguments, ",")
		}
		first, err := strategy.Parse(text)
		require.NoError(t, err)
		again, err := strategy.Parse(first.String())
		require.NoError(t, err)
		require.Equal(t, first.String(), again.String())
		require.Equal(t, first.Strategy, again.Strategy)
		parameters := map[string]json.Number{}
		for _, argument := range arguments {
			name, value, _ := strings.Cut(argument, "=")
			parameters[name] = json.Number(value)
		}
		written, err := json.Marshal(map[string]any{"name": entry.Name, "parameters": parameters})
		require.NoError(t, err)
		fromJSON, err := strategy.Parse(string(written))
		require.NoError(t, err)
		require.Equal(t, first.String(), fromJSON.String())
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"linear", "boulware:e=4", "genius-boulware:k=0.2,e=0.5", `{"name":"tft","parameters":{"kindness":0.1}}`, "{", ":=,",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		entry, err := strategy.Parse(text)
		if err != nil {
			return
		}
		again, err := strategy.Parse(entry.String())
		require.NoError(t, err)
		require.Equal(t, entry.String(), again.String())
	})
}
