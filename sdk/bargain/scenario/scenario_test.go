package scenario_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/scenario"
)

const geniusProfile = `<?xml version="1.0" encoding="ISO-8859-1"?>
<!-- a laptop -->
<utility_space number_of_issues="3">
  <objective index="0" name="laptop" type="objective" etype="objective">
    <issue index="1" name="brand" type="discrete"><item index="1" value="caf` + "\xe9" + `" evaluation="5"/><item index="2" value="b" evaluation="20"></item></issue>
    <issue index="2" name="days" type="integer" lowerbound="2" upperbound="6"><evaluator ftype="linear" offset="1" slope="-0.25"/></issue>
    <issue index="3" name="price" type="real"><range lowerbound="0" upperbound="10"/><evaluator ftype="triangular" parameter0="0" parameter1="10" parameter2="5"/></issue>
    <weight index="1" value="0.5"/><weight index="2" value="0.3"/><weight index="3" value="0.2"/>
  </objective>
  <discount_factor value="0.9"/><reservation value="0.25"/>
</utility_space>`

func TestReadsGenius(t *testing.T) {
	domain, err := scenario.ReadGeniusDomain([]byte(geniusProfile), scenario.Options{Levels: 11})
	require.NoError(t, err)
	require.Equal(t, uint64(2*5*11), domain.Size())
	require.Equal(t, "brand=café, days=2, price=3", domain.Text(domain.Outcome(0, 0, 3)))
	p, err := scenario.ReadGeniusProfile(domain, []byte(geniusProfile))
	require.NoError(t, err)
	require.Equal(t, fixed.One/4, p.Reservation())
	require.Equal(t, bargain.Discount{Factor: fixed.One / 10 * 9}, p.Discount())
	// .5 * 5/20 + .3 * 1 + .2 * 3/5, and .5 * 1 + .3 * (1 - 4/4) + .2 * 1/5
	require.Equal(t, "0.545", p.Of(domain.Outcome(0, 0, 3)).String())
	require.Equal(t, "0.54", p.Of(domain.Outcome(1, 4, 9)).String())
}

const geniusNonlinear = `<utility_space type="nonlinear"><objective>
<issue index="1" name="a" vtype="integer" lowerbound="0" upperbound="9"/>
<issue index="2" name="b" vtype="integer" lowerbound="0" upperbound="9"/>
<utility maxutility="100"><ufun>
<hyperRectangle utility="25"><INCLUDES index="2" min="7" max="9"/></hyperRectangle>
<hyperRectangle utility="50"><INCLUDES index="1" min="0" max="3"/><INCLUDES index="2" min="5" max="8"/></hyperRectangle>
</ufun></utility></objective></utility_space>`

func TestReadsGeniusHyperRectangles(t *testing.T) {
	domain, err := scenario.ReadGeniusDomain([]byte(geniusNonlinear), scenario.Options{})
	require.NoError(t, err)
	p, err := scenario.ReadGeniusProfile(domain, []byte(geniusNonlinear))
	require.NoError(t, err)
	require.Equal(t, "0.25", p.Of(domain.Outcome(9, 9)).String())
	require.Equal(t, "0.75", p.Of(domain.Outcome(0, 7)).String())
	require.Equal(t, "0", p.Of(domain.Outcome(0, 9-5)).String())
}

const negmasDomainYAML = `name: deal
type: CartesianOutcomeSpace
issues:
- {name: price, type: ContiguousIssue, values: [10, 14]}
- {name: colour, type: negmas.outcomes.CategoricalIssue, values: [red, green]}
- {name: rate, type: ContinuousIssue, values: [0.0, 1.0]}
`

func TestReadsNegmas(t *testing.T) {
	domain, err := scenario.ReadNegmasDomain([]byte(negmasDomainYAML), scenario.Options{Levels: 5})
	require.NoError(t, err)
	require.Equal(t, "price=12, colour=green, rate=0.25", domain.Text(domain.Outcome(2, 1, 1)))
	for name, profile := range map[string]string{
		"YAML": `type: LinearAdditiveUtilityFunction
reserved_value: 0.1
weights: {price: 0.5, colour: 0.25, rate: .25}
bias: 1.0e-2
values:
- type: AffineFun
  slope: -0.25
  bias: 3.5
- type: negmas.preferences.TableFun
  mapping: {red: 0.0, green: 1}
- {type: LinearFun, slope: 1.0}
`,
		"JSON": `{"__python_class__": "negmas.preferences.crisp.linear.LinearAdditiveUtilityFunction", "reserved_value": 0.1,
"weights": [0.5, 0.25, 0.25], "bias": 0.01, "values": [
{"__python_class__": "TableFun", "mapping": {"10": 1, "11": 0.75, "12": 0.5, "13": 0.25, "14": 0}},
{"__python_class__": "TableFun", "mapping": {"green": 1.0, "red": 0}}, {"__python_class__": "IdentityFun"}]}`,
	} {
		p, err := scenario.ReadNegmasProfile(domain, []byte(profile))
		require.NoError(t, err, name)
		require.Equal(t, fixed.One/10, p.Reservation())
		require.Equal(t, "0.5725", p.Of(domain.Outcome(2, 1, 1)).String(), name)
	}
}

// TestReadsEitherFormat tells the formats apart by their first character.
func TestReadsEitherFormat(t *testing.T) {
	for _, text := range []string{geniusProfile, "\ufeff\r\n\t " + geniusProfile} {
		domain, err := scenario.ReadDomain([]byte(text), scenario.Options{Levels: 11})
		require.NoError(t, err)
		want, err := scenario.ReadGeniusProfile(domain, []byte(geniusProfile))
		require.NoError(t, err)
		got, err := scenario.ReadProfile(domain, []byte(text))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	domain, err := scenario.ReadDomain([]byte(` {"issues": [{"name": "a", "values": 2}]}`), scenario.Options{})
	require.NoError(t, err)
	profile := `{type: LinearUtilityAggregationFunction, values: [{type: IdentityFun}]}`
	p, err := scenario.ReadProfile(domain, []byte(profile))
	require.NoError(t, err)
	require.Equal(t, fixed.One, p.Of(1))
}

func TestReadsNegmasDiscounts(t *testing.T) {
	domain, err := scenario.ReadNegmasDomain([]byte(`{"issues": [{"name": "a", "values": 10}]}`), scenario.Options{})
	require.NoError(t, err)
	inner := `{type: LinearAdditiveUtilityFunction, values: [{type: IdentityFun}]}`
	p, err := scenario.ReadNegmasProfile(domain, []byte(
		`{type: ExpDiscountedUFun, discount: 0.9, factor: step, reserved_value: -.inf, dynamic_reservation: false, ufun: `+inner+`}`))
	require.NoError(t, err)
	require.Equal(t, bargain.Discount{Factor: fixed.One / 10 * 9, PerStep: true, KeepReservation: true}, p.Discount())
	require.Equal(t, -bargain.MaxUtility, p.Reservation())
	p, err = scenario.ReadNegmasProfile(domain, []byte(`{type: LinDiscountedUFun, cost: 0.01, factor: relative_time, ufun: `+inner+`}`))
	require.NoError(t, err)
	require.Equal(t, bargain.Discount{Cost: fixed.One / 100}, p.Discount())
	p, err = scenario.ReadNegmasProfile(domain, []byte(
		`{type: HyperRectangleUtilityFunction, outcome_ranges: [{a: [2, 3, 3]}, {0: [2, 9]}], utilities: [2, 3], weights: [1, 2], bias: 1}`))
	require.NoError(t, err)
	require.Equal(t, "9", p.Of(3).String())
	require.Equal(t, "3", p.Of(2).String())
	require.Equal(t, "1", p.Of(9).String())
}

func TestErrorsNameWhatIsWrong(t *testing.T) {
	domain, err := scenario.ReadNegmasDomain([]byte(negmasDomainYAML), scenario.Options{Levels: 5})
	require.NoError(t, err)
	for document, want := range map[string]string{
		"type: WeirdFun": `scenario: invalid document: document has the unknown type "WeirdFun"`,
		"":               "scenario: invalid document: YAML: the document is empty",
		"{type: LinearAdditiveUtilityFunction, values: [1]}":                                                           "scenario: invalid document: document.values has 1 elements for 3 issues",
		"{type: LinearAdditiveUtilityFunction, values: {price: {type: IdentityFun}}}":                                  `scenario: invalid document: document.values has nothing for the issue "colour"`,
		"{type: LinearAdditiveUtilityFunction, reserved_value: x}":                                                     `scenario: invalid document: document.reserved_value is "x", which is not a decimal number within the limits`,
		"{type: LinearAdditiveUtilityFunction, values: [{type: IdentityFun}, {type: IdentityFun}, {type: CosFun}]}":    `scenario: invalid document: issue "colour" has no numbers`,
		"{type: ExpDiscountedUFun, discount: .5, factor: time, ufun: {}}":                                              `scenario: invalid document: document.factor is "time"; the engine knows step and relative_time`,
		"{type: LinearAdditiveUtilityFunction, values: [{type: IdentityFun}, {type: TableFun, mapping: {red: 1}}, 1]}": `scenario: invalid document: document.values[1].mapping has 1 values of 2`,
	} {
		_, err := scenario.ReadNegmasProfile(domain, []byte(document))
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, scenario.ErrFormat)
	}
	for document, want := range map[string]string{
		"<a>":                                 "scenario: invalid document: XML: XML syntax error on line 1: unexpected EOF",
		"<a/>":                                "scenario: invalid document: bargain: invalid domain: no issues",
		`<a><issue name="x" type="odd"/></a>`: `scenario: invalid document: issue "x" has the unknown type "odd"`,
		`<a><issue name="x" type="integer" lowerbound="1" upperbound="y"/></a>`: `scenario: invalid document: <issue> has upperbound="y", which is not a decimal number`,
		`<a><issue name="x" type="real" lowerbound="1" upperbound="1"/></a>`:    `scenario: invalid document: issue "x" has the range 1 to 1`,
	} {
		_, err := scenario.ReadGeniusDomain([]byte(document), scenario.Options{})
		require.EqualError(t, err, want)
	}
}

// documents returns the scenario files that NegMAS has dumped or read: see tests/negmas.
func documents(t testing.TB, pattern string) []string {
	names, err := filepath.Glob(filepath.Join("../../../tests/negmas/testdata/files/*/*", pattern))
	require.NoError(t, err)
	return names
}

func FuzzReadGenius(f *testing.F) {
	f.Add([]byte(geniusProfile))
	f.Add([]byte(geniusNonlinear))
	for _, name := range documents(f, "*.xml") {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		domain, err := scenario.ReadGeniusDomain(data, scenario.Options{})
		if err != nil {
			require.ErrorIs(t, err, scenario.ErrFormat)
			return
		}
		p, err := scenario.ReadGeniusProfile(domain, data)
		if err != nil {
			require.ErrorIs(t, err, scenario.ErrFormat)
			return
		}
		u := p.Of(bargain.Outcome(domain.Size() - 1))
		require.True(t, -bargain.MaxUtility <= u && u <= bargain.MaxUtility)
	})
}

func FuzzReadNegmas(f *testing.F) {
	f.Add([]byte(negmasDomainYAML), []byte("type: LinearAdditiveUtilityFunction\nvalues: [{type: IdentityFun}]"))
	f.Add([]byte(`{"issues": [{"name": "a", "values": 10}]}`),
		[]byte(`{type: HyperRectangleUtilityFunction, outcome_ranges: [{a: [2, 3]}], utilities: [2]}`))
	for _, name := range append(documents(f, "*.yml"), documents(f, "*.json")...) {
		domain, err := os.ReadFile(filepath.Join(filepath.Dir(name), "domain"+filepath.Ext(name)))
		if err != nil {
			continue
		}
		profile, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(domain, profile)
	}
	f.Fuzz(func(t *testing.T, data, profile []byte) {
		domain, err := scenario.ReadNegmasDomain(data, scenario.Options{})
		if err != nil {
			require.ErrorIs(t, err, scenario.ErrFormat)
			return
		}
		p, err := scenario.ReadNegmasProfile(domain, profile)
		if err != nil {
			require.ErrorIs(t, err, scenario.ErrFormat)
			return
		}
		u := p.Of(bargain.Outcome(domain.Size() - 1))
		require.True(t, -bargain.MaxUtility <= u && u <= bargain.MaxUtility)
	})
}
