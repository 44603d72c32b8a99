package scenario_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/scenario"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// levels is the number of values in every real issue; GENIUS' format does not store it.
const levels = 4

// names are texts that YAML or XML read as something else if they are not quoted.
var names = []string{
	"no", "yes", "1", "01", "1e3", "~", "null", "=", "<<", "a b", " x ", "é", "\n", "<&\"'", "2020-01-01", "0x1",
	"1:30", "ON", "", "-", "1_000", ".inf", "True", "# c", "a: b", "{", "\u0085", "plain",
}

func drawNames(t *rapid.T, label string) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID).Draw(t, label)
}

func drawIssue(t *rapid.T, name string) bargain.Issue {
	count := rapid.Uint64Range(1, 4).Draw(t, "count")
	switch kind := rapid.SampledFrom([]bargain.Kind{0, 1, 2, 3, 4}).Draw(t, "kind"); kind {
	case bargain.KindPrice:
		tick := rapid.SampledFrom([]uint64{1, 5, 1_000_000_007}).Draw(t, "tick")
		least := rapid.SampledFrom([]uint64{0, 3, 40_000_000_000}).Draw(t, "least")
		return bargain.Price(name, least, least+(count-1)*tick, tick)
	case bargain.KindInteger:
		least := rapid.Int64Range(-3, 3).Draw(t, "least")
		return bargain.Integer(name, least, least+int64(count)-1)
	case bargain.KindReal:
		least := fixed.Number(rapid.Int64Range(-3e12, 3e12).Draw(t, "least"))
		tick := fixed.Number(rapid.SampledFrom([]int64{1, 7, 250_000_000_000, 333_333_333_333}).Draw(t, "tick"))
		return bargain.Real(name, least, least+(levels-1)*tick, tick)
	case bargain.KindCategorical:
		return bargain.Categorical(name, drawNames(t, "values")...)
	default:
		return bargain.Ordered(name, drawNames(t, "values")...)
	}
}

func drawValue(t *rapid.T) fixed.Number {
	return rapid.OneOf(
		rapid.Map(rapid.Int64Range(-200, 1_000), func(n int64) fixed.Number { return fixed.Number(n) * fixed.One / 1_000 }),
		rapid.Map(rapid.Int64Range(0, 3e12), func(n int64) fixed.Number { return fixed.Number(n) }),
	).Draw(t, "value")
}

func drawUtility(t *rapid.T, domain *bargain.Domain) (u bargain.Utility) {
	var err error
	switch rapid.SampledFrom([]string{"additive", "lines", "mapping", "rectangles"}).Draw(t, "utility") {
	case "additive":
		var values []utility.Values
		for at := range domain.Len() {
			issue := domain.Issue(at)
			table := make(utility.Table, issue.Count)
			for index := range table {
				table[index] = drawValue(t)
			}
			values = append(values, table)
		}
		u, err = utility.NewAdditive(domain, drawValue(t), nil, values...)
	case "lines":
		var values []utility.Values
		for at := range domain.Len() {
			values = append(values, utility.Line{First: drawValue(t), Last: drawValue(t), Count: domain.Issue(at).Count})
		}
		u, err = utility.NewAdditive(domain, drawValue(t), nil, values...)
	case "mapping":
		values := make([]fixed.Number, domain.Size())
		for o := range values {
			values[o] = drawValue(t)
		}
		u, err = utility.NewMapping(domain, values)
	default:
		var list []utility.Rectangle
		for range rapid.IntRange(0, 4).Draw(t, "rectangles") {
			rectangle := utility.Rectangle{Value: drawValue(t)}
			for range rapid.IntRange(0, 3).Draw(t, "ranges") {
				at := rapid.IntRange(0, domain.Len()-1).Draw(t, "issue")
				first := rapid.Uint64Range(0, domain.Issue(at).Count-1).Draw(t, "first")
				last := rapid.Uint64Range(first, domain.Issue(at).Count-1).Draw(t, "last")
				rectangle.Ranges = append(rectangle.Ranges, utility.Range{Issue: at, First: first, Last: last})
			}
			list = append(list, rectangle)
		}
		u, err = utility.NewHyperRectangle(domain, drawValue(t), list...)
	}
	require.NoError(t, err)
	return u
}

func drawPreferences(t *rapid.T) *bargain.Preferences {
	var issues []bargain.Issue
	for at := range rapid.IntRange(1, 3).Draw(t, "issues") {
		name := rapid.SampledFrom(names).Draw(t, "name") + strconv.Itoa(at)
		issues = append(issues, drawIssue(t, name))
	}
	domain, err := bargain.NewDomain(issues...)
	require.NoError(t, err)
	discount := bargain.Discount{PerStep: rapid.Bool().Draw(t, "per step")}
	switch rapid.IntRange(0, 3).Draw(t, "discount") {
	case 1:
		discount.Factor = rapid.SampledFrom([]fixed.Number{1, fixed.One / 3, fixed.One}).Draw(t, "factor")
		discount.KeepReservation = rapid.Bool().Draw(t, "keep")
	case 2:
		discount.Cost = drawValue(t)
	default:
		discount = bargain.Discount{}
	}
	p, err := bargain.NewDiscounted(domain, drawUtility(t, domain), drawValue(t), discount)
	require.NoError(t, err)
	return p
}

// requireEqual requires equal outcomes, and equal utilities except for lines' last decimals.
func requireEqual(t *rapid.T, want, got *bargain.Preferences) {
	require.Equal(t, want.Domain().Size(), got.Domain().Size())
	require.Equal(t, want.Reservation(), got.Reservation())
	for o := range bargain.Outcome(want.Domain().Size()) {
		require.Equal(t, want.Domain().Text(o), got.Domain().Text(o))
		require.InDelta(t, int64(want.Of(o)), int64(got.Of(o)), 20, want.Domain().Text(o))
	}
	for _, step := range []int{0, 1, 7} {
		require.InDelta(t, int64(want.ValueAt(bargain.NoOutcome, step, fixed.One/2)),
			int64(got.ValueAt(bargain.NoOutcome, step, fixed.One/2)), 0)
	}
}

// TestScenariosRoundTrip writes random preferences in each format and reads them back. NegMAS' YAML can
// express all of these. The remaining formats may refuse some, but only for the reasons that
// TestWritersNameWhatIsWrong lists.
func TestScenariosRoundTrip(t *testing.T) {
	written := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		p := drawPreferences(t)
		for format, name := range map[scenario.Format]string{scenario.YAML: "YAML", scenario.JSON: "JSON"} {
			data, err := scenario.WriteNegmasDomain("1", p.Domain(), format)
			require.NoError(t, err)
			domain, err := scenario.ReadNegmasDomain(data, scenario.Options{})
			require.NoError(t, err, "%s", data)
			isDomain, err := scenario.IsDomain(data)
			require.NoError(t, err)
			require.True(t, isDomain)
			data, err = scenario.WriteNegmasProfile("yes", p, format)
			if format == scenario.JSON && err != nil {
				require.ErrorIs(t, err, scenario.ErrFormat)
				require.Regexp(t, "from JSON, whose keys are text: use YAML|too large for a straight line", err.Error())
				continue
			}
			require.NoError(t, err)
			got, err := scenario.ReadNegmasProfile(domain, data)
			require.NoError(t, err, "%s", data)
			requireEqual(t, p, got)
			isDomain, err = scenario.IsDomain(data)
			require.NoError(t, err)
			require.False(t, isDomain)
			written[name]++
		}
		data, err := scenario.WriteGeniusDomain("d", p.Domain())
		require.NoError(t, err)
		domain, err := scenario.ReadGeniusDomain(data, scenario.Options{Levels: levels})
		require.NoError(t, err, "%s", data)
		data, err = scenario.WriteGeniusProfile("p", p)
		if err != nil {
			require.ErrorIs(t, err, scenario.ErrFormat)
			require.Regexp(t, "GENIUS (knows|needs|limits)|as GENIUS needs it|to which GENIUS limits it", err.Error())
			return
		}
		got, err := scenario.ReadGeniusProfile(domain, data)
		require.NoError(t, err, "%s", data)
		requireEqual(t, p, got)
		written["GENIUS"]++
	})
	require.Greater(t, written["JSON"], 10)
	require.Greater(t, written["GENIUS"], 10)
}
