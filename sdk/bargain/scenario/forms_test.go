package scenario_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/scenario"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

func preferences(t *testing.T, u func(d *bargain.Domain) (bargain.Utility, error), issues ...bargain.Issue,
) *bargain.Preferences {
	domain, err := bargain.NewDomain(issues...)
	require.NoError(t, err)
	made, err := u(domain)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, made, 0)
	require.NoError(t, err)
	return p
}

func additive(values ...utility.Values) func(d *bargain.Domain) (bargain.Utility, error) {
	return func(d *bargain.Domain) (bargain.Utility, error) { return utility.NewAdditive(d, 0, nil, values...) }
}

func boxes(list ...utility.Rectangle) func(d *bargain.Domain) (bargain.Utility, error) {
	return func(d *bargain.Domain) (bargain.Utility, error) { return utility.NewHyperRectangle(d, 0, list...) }
}

// other is a utility that the package does not know.
type other struct{}

func (other) Of(bargain.Outcome) fixed.Number { return 0 }

func TestWritersNameWhatIsWrong(t *testing.T) {
	half := fixed.One / 2
	bent := utility.Table{0, 0, half}
	integers, names := bargain.Integer("days", 1, 3), bargain.Categorical("colour", "red", "green", "blue")
	long := make(utility.Table, 70_000)
	long[7] = 1_000
	unknown := func(*bargain.Domain) (bargain.Utility, error) { return other{}, nil }
	ranged := boxes(utility.Rectangle{Value: half, Ranges: []utility.Range{{Issue: 0, First: 1, Last: 1}}})
	for _, test := range []struct {
		p                  *bargain.Preferences
		yaml, json, genius string
	}{
		{p: preferences(t, additive(bent), integers),
			json: `issue "days" has no straight line of values, and NegMAS reads no table of numbers from JSON, whose keys are text: use YAML`},
		{p: preferences(t, additive(bent, bent), integers, names),
			json:   `issue "days" has no straight line of values, and NegMAS reads no table of numbers from JSON, whose keys are text: use YAML`,
			genius: `issue "days" has no straight line of values, as GENIUS needs it`},
		{p: preferences(t, additive(long), bargain.Integer("days", 1, 70_000)),
			yaml:   `issue "days" has 70000 values, which are no straight line; the limit of a table is 65536`,
			json:   `issue "days" has 70000 values, which are no straight line; the limit of a table is 65536`,
			genius: `issue "days" has no straight line of values, as GENIUS needs it`},
		{p: preferences(t, additive(utility.Line{Last: fixed.One, Count: 2}), bargain.Price("price", 1<<60, 1<<60+1, 1)),
			json: `issue "price" has numbers that are too large for a straight line in NegMAS' floats`},
		{p: preferences(t, additive(utility.Table{-1, 0, 0}), names),
			genius: "the lowest utility is -0.000000000001; GENIUS knows none below 0"},
		{p: preferences(t, ranged, integers),
			json: "NegMAS reads no hyper-rectangles from JSON, whose keys are text: use YAML"},
		{p: preferences(t, ranged, names),
			json:   "NegMAS reads no hyper-rectangles from JSON, whose keys are text: use YAML",
			genius: `issue "colour": GENIUS knows ranges of integers only`},
		{p: preferences(t, ranged, bargain.Price("price", 1<<60, 1<<60+9, 1)),
			yaml: `issue "price": a range ends at numbers that are too large for NegMAS' floats`,
			json: "NegMAS reads no hyper-rectangles from JSON, whose keys are text: use YAML"},
		{p: preferences(t, boxes(utility.Rectangle{Value: fixed.One + 1}), integers),
			genius: "the utility can exceed 1, to which GENIUS limits it"},
		{p: preferences(t, unknown, integers),
			yaml:   "the utility is neither additive nor a table nor a sum of hyper-rectangles",
			json:   "the utility is neither additive nor a table nor a sum of hyper-rectangles",
			genius: "the utility is neither additive nor a table nor a sum of hyper-rectangles"},
	} {
		_, yamlErr := scenario.WriteNegmasProfile("p", test.p, scenario.YAML)
		_, jsonErr := scenario.WriteNegmasProfile("p", test.p, scenario.JSON)
		_, geniusErr := scenario.WriteGeniusProfile("p", test.p)
		for _, got := range []struct {
			want string
			err  error
		}{{test.yaml, yamlErr}, {test.json, jsonErr}, {test.genius, geniusErr}} {
			if got.want == "" {
				require.NoError(t, got.err)
				continue
			}
			require.EqualError(t, got.err, "scenario: invalid document: "+got.want)
		}
	}
	for text, want := range map[string]string{"a\x01": `XML cannot express the text "a\x01"`, "\xff": `XML cannot express the text "\xff"`} {
		domain, err := bargain.NewDomain(bargain.Categorical("a", text))
		require.NoError(t, err)
		_, err = scenario.WriteGeniusDomain("d", domain)
		require.EqualError(t, err, "scenario: invalid document: "+want)
	}
	domain, err := bargain.NewDomain(bargain.Categorical("a", "\xff"))
	require.NoError(t, err)
	for _, format := range []scenario.Format{scenario.YAML, scenario.JSON} {
		_, err = scenario.WriteNegmasDomain("d", domain, format)
		require.EqualError(t, err, `scenario: invalid document: the text "\xff" is not UTF-8`)
	}
	domain, err = bargain.NewDomain(bargain.Price("p", 0, 1_000_000, 5))
	require.NoError(t, err)
	_, err = scenario.WriteGeniusDomain("d", domain)
	require.EqualError(t, err, `scenario: invalid document: issue "p" has 200001 values and the tick 5, which GENIUS `+
		`does not know; the limit of a list of values is 65536`)
}

// TestWritesDiscountsOfEachFormat covers the discounts missing from a format.
func TestWritesDiscountsOfEachFormat(t *testing.T) {
	p := preferences(t, additive(utility.Table{0}), bargain.Categorical("a", "x"))
	for _, test := range []struct {
		discount       bargain.Discount
		negmas, genius string
	}{
		{discount: bargain.Discount{Factor: fixed.One, PerStep: true}},
		{discount: bargain.Discount{Factor: fixed.One / 2}},
		{discount: bargain.Discount{Factor: fixed.One / 2, Cost: 1},
			negmas: "NegMAS knows no discount with both a factor and a cost",
			genius: "GENIUS knows only a discount factor for the whole time, which discounts the reservation value, too"},
		{discount: bargain.Discount{Factor: fixed.One / 2, KeepReservation: true},
			genius: "GENIUS knows only a discount factor for the whole time, which discounts the reservation value, too"},
		{discount: bargain.Discount{Factor: fixed.One / 2, PerStep: true},
			genius: "GENIUS knows only a discount factor for the whole time, which discounts the reservation value, too"},
	} {
		discounted, err := bargain.NewDiscounted(p.Domain(), p.Utility(), 0, test.discount)
		require.NoError(t, err)
		_, negmasErr := scenario.WriteNegmasProfile("p", discounted, scenario.YAML)
		_, geniusErr := scenario.WriteGeniusProfile("p", discounted)
		if test.negmas == "" {
			require.NoError(t, negmasErr)
		} else {
			require.EqualError(t, negmasErr, "scenario: invalid document: "+test.negmas)
		}
		if test.genius == "" {
			require.NoError(t, geniusErr)
		} else {
			require.EqualError(t, geniusErr, "scenario: invalid document: "+test.genius)
		}
	}
}

// TestLongLinesAreExact uses prices with a slope that needs more decimals than a number holds.
func TestLongLinesAreExact(t *testing.T) {
	for _, issue := range []bargain.Issue{
		bargain.Price("price", 5_000_000, 7_123_456_789, 1),
		bargain.Price("price", 1<<63, math.MaxUint64-1, 2),
		bargain.Integer("price", -4_000_000_000, 3_999_999_999),
	} {
		p := preferences(t, additive(utility.Line{First: fixed.One, Last: fixed.One / 7, Count: issue.Count}), issue)
		read := map[string]*bargain.Preferences{}
		for _, format := range []scenario.Format{scenario.YAML, scenario.JSON} {
			data, err := scenario.WriteNegmasDomain("d", p.Domain(), format)
			require.NoError(t, err)
			domain, err := scenario.ReadNegmasDomain(data, scenario.Options{})
			require.NoError(t, err, "%s", data)
			data, err = scenario.WriteNegmasProfile("p", p, format)
			require.NoError(t, err)
			read[string(rune('0'+format))], err = scenario.ReadNegmasProfile(domain, data)
			require.NoError(t, err)
		}
		if issue.Tick == 1 {
			data, err := scenario.WriteGeniusDomain("d", p.Domain())
			require.NoError(t, err)
			domain, err := scenario.ReadGeniusDomain(data, scenario.Options{})
			require.NoError(t, err)
			data, err = scenario.WriteGeniusProfile("p", p)
			require.NoError(t, err)
			read["GENIUS"], err = scenario.ReadGeniusProfile(domain, data)
			require.NoError(t, err)
		}
		for name, got := range read {
			require.Equal(t, p.Domain().Size(), got.Domain().Size(), name)
			for _, index := range []uint64{0, 1, 77_777, issue.Count / 2, issue.Count - 1} {
				o := bargain.Outcome(index)
				require.Equal(t, p.Domain().Text(o), got.Domain().Text(o))
				require.Equal(t, p.Of(o), got.Of(o), name)
			}
		}
	}
}

// TestReadersRefuseWhatTheyCannotRead covers documents that were once read as something else.
func TestReadersRefuseWhatTheyCannotRead(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Integer("a", 0, 9), bargain.Categorical("1", "x", "y"))
	require.NoError(t, err)
	box := func(ranges string) string {
		return "{type: HyperRectangleUtilityFunction, utilities: [1], outcome_ranges: [" + ranges + "]}"
	}
	for document, want := range map[string]string{
		box("{2: [0, 5]}"):     "document.outcome_ranges[0].2: the domain has no such issue",
		box("{b: [0, 5]}"):     "document.outcome_ranges[0].b: the domain has no such issue",
		box("{a: 1, 0: 2}"):    `document.outcome_ranges[0] has the issue "a" twice`,
		box("{1: [0, 5]}"):     `document.outcome_ranges[0].1 is a range, but not of numbers of issue "1"`,
		box("[0, 5]"):          "document.outcome_ranges[0] is not a mapping from issues to values",
		box("{0: [[[1, 2]]]}"): "document.outcome_ranges[0].0[0][0] is not a single value",
		`{type: MappingUtilityFunction, mapping: {? [1, x] : 1, ? [1, z] : 2}}`: "document.mapping has a key in line 1 that is no outcome",
		`{type: MappingUtilityFunction, mapping: {x: 1}}`:                       "document.mapping has a key in line 1 that is no outcome",
		`{type: LinearUtilityFunction}`:                                         `issue "1" has no numbers`,
	} {
		_, err := scenario.ReadNegmasProfile(domain, []byte(document))
		require.EqualError(t, err, "scenario: invalid document: "+want)
	}
	for document, want := range map[string]string{
		`{issues: [{name: a, type: ContiguousIssue, values: [1, 9, 0]}]}`:             `issue "a" has the range 1 to 9 with the step 0, which is not one of integers`,
		`{issues: [{name: a, type: ContiguousIssue, values: [1, 9, 2, 3]}]}`:          "document.issues[0] has 4 values; a range has two, and a step",
		`{issues: [{name: a, type: DiscreteOrdinalIssue, values: 4}]}`:                "document.issues[0].values is not a list",
		`{issues: [{name: a, type: ContinuousIssue, values: [0, 1], n_levels: few}]}`: `document.issues[0].n_levels is "few", which is not a number of steps`,
	} {
		_, err := scenario.ReadNegmasDomain([]byte(document), scenario.Options{})
		require.EqualError(t, err, "scenario: invalid document: "+want)
	}
	nonlinear := func(inner string) string {
		return `<utility_space><issue index="1" name="a"/><issue index="2" name="1"/><utility maxutility="2">` + inner + `</utility></utility_space>`
	}
	for document, want := range map[string]string{
		nonlinear(`<ufun aggregation="max"/>`): `<ufun> has aggregation="max"; the engine knows sum`,
		nonlinear(`<ufun><hyperRectangle utility="1"><EXCLUDES index="1" min="1" max="2"/></hyperRectangle></ufun>`): "<hyperRectangle> has a <EXCLUDES>; the engine knows INCLUDES",
		nonlinear(`<ufun><hyperRectangle utility="1"><INCLUDES index="2" min="1" max="2"/></hyperRectangle></ufun>`): `<INCLUDES> has a range of issue "1", whose values are names`,
		nonlinear(`<ufun><hyperRectangle utility="1"><INCLUDES index="1" min="3" max="2"/></hyperRectangle></ufun>`): `<INCLUDES> of issue "a" has the range 3 to 2`,
		nonlinear(`<ufun/>`):            "",
		nonlinear(`<ufun weight="2"/>`): "<utility> must have one <ufun> with the weight 1",
		nonlinear(`<ufun/><ufun/>`):     "<utility> must have one <ufun> with the weight 1",
		`<utility_space><cost value="0.1"/><ufun/><issue index="1" name="a"/><issue index="2" name="1"/></utility_space>`:                            "it has a <cost>, which GENIUS does not know",
		`<utility_space><discount_factor value="0.1" variable="step"/><ufun/><issue index="1" name="a"/><issue index="2" name="1"/></utility_space>`: `<discount_factor> has variable="step"; GENIUS knows relative_time`,
	} {
		_, err := scenario.ReadGeniusProfile(domain, []byte(document))
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, "scenario: invalid document: "+want)
	}
	// A long issue's utility is linear: a function that GENIUS limits in between is none.
	_, err = scenario.IsDomain([]byte("a: 1"))
	require.EqualError(t, err, "scenario: invalid document: the document is neither an outcome space nor a utility function")
	_, err = scenario.IsDomain([]byte("<a/>"))
	require.EqualError(t, err, "scenario: invalid document: <a> is neither a domain nor a profile")
	long := []byte(`<utility_space><issue index="1" name="a" type="integer" lowerbound="0" upperbound="99999">` +
		`<evaluator ftype="linear" offset="0" slope="0.1"/></issue><weight index="1" value="1"/></utility_space>`)
	domain, err = scenario.ReadGeniusDomain(long, scenario.Options{})
	require.NoError(t, err)
	_, err = scenario.ReadGeniusProfile(domain, long)
	require.EqualError(t, err, `scenario: invalid document: issue "a" has more than 65536 values, and its utility is no straight line`)
}

// TestReadsNegmasRanges checks ranges as NegMAS computes them: two numbers, ends excluded, and lists of
// values and ranges.
func TestReadsNegmasRanges(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Integer("a", 0, 9), bargain.Categorical("b", "x", "y", "z"))
	require.NoError(t, err)
	for ranges, want := range map[string]string{
		"{0: [2, 5]}":            "a=3 a=4",
		"{0: [2, 3]}":            "",
		"{0: [2, 3, 3]}":         "a=2 a=3",
		"{0: [1.5, 3.5]}":        "a=2 a=3",
		"{0: 7}":                 "a=7",
		"{0: [7]}":               "a=7",
		"{0: [[0, 2], 2, 9]}":    "a=1 a=2 a=9",
		"{0: [[1, 3, 5], 9.0]}":  "a=1 a=3 a=5 a=9",
		"{0: [6.5, 20]}":         "a=7 a=8 a=9",
		"{0: []}":                "",
		"{0: null}":              "",
		`{"0": [7.5, 9]}`:        "a=8",
		"{1: [x, z]}":            "b=x b=z",
		"{0: [8], b: [x, none]}": "a=8,b=x",
		"null":                   "all",
	} {
		p, err := scenario.ReadNegmasProfile(domain, []byte(
			"{type: HyperRectangleUtilityFunction, utilities: [0.5], outcome_ranges: ["+ranges+"]}"))
		require.NoError(t, err, ranges)
		for o := range bargain.Outcome(domain.Size()) {
			a, b := domain.Issue(0).Text(domain.Value(o, 0)), domain.Issue(1).Text(domain.Value(o, 1))
			isIn := want == "all"
			for _, part := range strings.Fields(want) {
				isIn = isIn || part == "a="+a || part == "b="+b || part == "a="+a+",b="+b
			}
			require.Equal(t, isIn, p.Of(o) != 0, "%s: %s", ranges, domain.Text(o))
		}
	}
}

func TestReadsNumbersWithManyDigits(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Integer("a", 0, 9))
	require.NoError(t, err)
	read := func(slope string) (*bargain.Preferences, error) {
		return scenario.ReadNegmasProfile(domain, []byte(
			"{type: LinearAdditiveUtilityFunction, values: [{type: LinearFun, slope: "+slope+"}]}"))
	}
	for slope, want := range map[string]string{
		"0." + strings.Repeat("3", 40):  "3",
		"0." + strings.Repeat("3", 900): "2.999999999997",
		"1e-900":                        "0",
		"012":                           "108",
	} {
		p, err := read(slope)
		require.NoError(t, err)
		require.Equal(t, want, p.Of(9).String())
	}
	for _, slope := range []string{"1e900", "1e1001", "0x1", "1/3", "1_0"} {
		_, err := read(slope)
		require.EqualError(t, err, fmt.Sprintf(
			"scenario: invalid document: document.values[0].slope is %q, which is not a decimal number", slope))
	}
}

// TestReadsWhatNegmasLeavesOut checks a linear function with no weights, where NegMAS uses 1/n for n issues,
// and a duplicate key, where the last value counts.
func TestReadsWhatNegmasLeavesOut(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Integer("a", 0, 9), bargain.Integer("b", 0, 9))
	require.NoError(t, err)
	p, err := scenario.ReadNegmasProfile(domain, []byte("{type: LinearUtilityFunction, bias: 1, bias: 2}"))
	require.NoError(t, err)
	require.Equal(t, "5.5", p.Of(domain.Outcome(3, 4)).String())
	p, err = scenario.ReadNegmasProfile(domain, []byte("{type: MappingUtilityFunction, default: 7, mapping: {? [1, 2] : 3}}"))
	require.NoError(t, err)
	require.Equal(t, "3", p.Of(domain.Outcome(1, 2)).String())
	require.Equal(t, "7", p.Of(domain.Outcome(2, 1)).String())
}

// TestReadsCharactersBeyond16Bits reads Python's JSON, which writes two escapes for a single character.
func TestReadsCharactersBeyond16Bits(t *testing.T) {
	domain, err := scenario.ReadNegmasDomain([]byte(
		`{"issues": [{"name": "\ud83d\ude00", "values": ["\u00e9", "\\ud83d\\ude00"]}]}`), scenario.Options{})
	require.NoError(t, err)
	require.Equal(t, "😀=é", domain.Text(0))
	require.Equal(t, `😀=\ud83d\ude00`, domain.Text(1))
}

// TestWritesWhatTheFormatsHaveNoWordFor checks a rectangle containing no outcome, and a line over real
// numbers too steep for floats.
func TestWritesWhatTheFormatsHaveNoWordFor(t *testing.T) {
	empty := preferences(t, boxes(utility.Rectangle{Value: fixed.One / 2, Ranges: []utility.Range{
		{Issue: 0, First: 0, Last: 1}, {Issue: 0, First: 2, Last: 2}}}), bargain.Integer("days", 1, 3))
	data, err := scenario.WriteGeniusProfile("p", empty)
	require.NoError(t, err)
	p, err := scenario.ReadGeniusProfile(empty.Domain(), data)
	require.NoError(t, err)
	for o := range bargain.Outcome(3) {
		require.Equal(t, fixed.Number(0), p.Of(o))
	}
	steep := preferences(t, additive(utility.Line{First: 0, Last: fixed.One, Count: 3}),
		bargain.Real("rate", 4*fixed.One, 4*fixed.One+2, 1))
	data, err = scenario.WriteNegmasProfile("p", steep, scenario.YAML)
	require.NoError(t, err)
	p, err = scenario.ReadNegmasProfile(steep.Domain(), data)
	require.NoError(t, err)
	for o := range bargain.Outcome(3) {
		require.Equal(t, steep.Of(o), p.Of(o))
	}
}

// TestOptionsDivideRealIssues takes the number of values from the options, from the file, and from neither.
func TestOptionsDivideRealIssues(t *testing.T) {
	for steps, counts := range map[string][2]uint64{"": {101, 7}, ", n_levels: 4": {5, 7}} {
		for at, options := range []scenario.Options{{}, {Levels: 7}} {
			domain, err := scenario.ReadNegmasDomain([]byte(
				"{issues: [{name: a, type: ContinuousIssue, values: [0, 12]"+steps+"}]}"), options)
			require.NoError(t, err)
			require.Equal(t, counts[at], domain.Size())
		}
	}
}

// TestNamesAreIndexedOnce uses an issue with many names in many boxes: indexing the names per box would take
// most memory and time.
func TestNamesAreIndexedOnce(t *testing.T) {
	names := make([]string, 5_000)
	for at := range names {
		names[at] = fmt.Sprintf("a%d", at)
	}
	text := "issues:\n- {name: color, values: [" + strings.Join(names, ",") + "]}\n"
	domain, err := scenario.ReadDomain([]byte(text), scenario.Options{})
	require.NoError(t, err)
	profile := func(boxes int) []byte {
		return []byte("type: HyperRectangleUtilityFunction\nreserved_value: 0\noutcome_ranges:\n" +
			strings.Repeat("- {0: a7}\n", boxes) + "utilities: [0" + strings.Repeat(",0", boxes-1) + "]\n")
	}
	bytes := func(boxes int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := scenario.ReadProfile(domain, profile(boxes))
		require.NoError(t, err)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, bytes(100), 2*bytes(1))
}
