package scenario_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/scenario"
)

// These documents follow the form of GENIUS 10.4's domains and were written for this test.

const geniusDomain = `<negotiation_template>
<utility_space number_of_issues="4">
  <objective index="0" etype="objective" type="objective" description="" name="any">
    <issue index="1" etype="discrete" type="discrete" vtype="integer" name="Food">
      <item index="1" description="Buy nuts." value="Chips and Nuts" cost="100.0"/>
      <item index="2" value=" 2 "/>
    </issue>
    <objective index="5" name="Place" type="objective">
      <issue name="Guests" index="2" etype="integer" type="integer" vtype="discrete" lowerbound="10" upperbound="30"/>
      <issue name="Rooms" index="3" vtype="integer"><range lowerbound="-1" upperbound="2"></range></issue>
    </objective>
    <issue name="Rent" index="4" etype="real" type="real" vtype="real"><range lowerbound="0.5" upperbound="2.5"/></issue>
  </objective>
</utility_space>
<agent class="some.Agent"/>
</negotiation_template>`

const geniusAdditive = `<utility_space>
<objective index="0" name="any">
  <weight index="1" value="0.4"></weight> <weight index="5" value="0.9"/> <weight index="3" value="0.1"/>
  <weight index="2" value="0.2"/> <weight index="4" value=" 0.3 "/>
  <issue index="1" name="Food" type="discrete">
    <item index="2" value=" 2 " evaluation="30"/>
    <item index="1" value="Chips and Nuts" evaluation="7"/>
    <item index="3" value="Unknown" evaluation="35"/>
  </issue>
  <objective index="5" name="Place"><issue index="2" name="Guests" type="integer" lowerbound="10" upperbound="30">
    <evaluator ftype="linear" slope="0.04" offset="0.6"/>
  </issue></objective>
  <issue index="3" name="Rooms" type="discrete" vtype="integer">
    <item value="-1" evaluation="0"/><item value="0" evaluation="1"/><item value="1.0" evaluation="4"/><item value="2" evaluation="2"/>
  </issue>
  <issue index="4" name="Rent" type="real"><range lowerbound="0.5" upperbound="2.5"/>
    <evaluator ftype="linear" parameter0="1.1" parameter1="-0.4"/></issue>
</objective>
</utility_space>`

func TestReadsDomainsInTheFormOfGenius(t *testing.T) {
	domain, err := scenario.ReadGeniusDomain([]byte(geniusDomain), scenario.Options{Levels: 5})
	require.NoError(t, err)
	kinds := []bargain.Kind{bargain.KindCategorical, bargain.KindInteger, bargain.KindInteger, bargain.KindReal}
	for at, kind := range kinds {
		require.Equal(t, kind, domain.Issue(at).Kind, "type wins over vtype")
	}
	require.Equal(t, "Food= 2 , Guests=12, Rooms=1, Rent=1", domain.Text(domain.Outcome(1, 2, 2, 1)))
	p, err := scenario.ReadGeniusProfile(domain, []byte(geniusAdditive))
	require.NoError(t, err)
	// .4 * 30/35 + .2 * (.6 + 2 * .04) + .1 * 4/4 + .3 * (1.1 - .4)
	require.Equal(t, "0.788857142857", p.Of(domain.Outcome(1, 2, 2, 1)).String())
	// .4 * 7/35 + .2 * 1 + .1 * 0 + .3 * .1: beyond 10 guests the slope would exceed 1.
	require.Equal(t, "0.31", p.Of(domain.Outcome(0, 20, 0, 4)).String())
	require.Equal(t, fixed.Number(0), p.Reservation())
	steep, err := scenario.ReadGeniusProfile(domain, []byte(strings.Replace(geniusAdditive,
		`parameter0="1.1" parameter1="-0.4"`, `parameter0="0.9" parameter1="-0.4"`, 1)))
	require.NoError(t, err)
	// At 2.5 the line is negative, and counts as 0.
	require.Equal(t, "0.28", steep.Of(domain.Outcome(0, 20, 0, 4)).String())
}

func TestReadsWeightsOfHyperRectangles(t *testing.T) {
	domain, err := scenario.ReadGeniusDomain([]byte(geniusDomain), scenario.Options{Levels: 5})
	require.NoError(t, err)
	issues := `<issue index="1" name="Food"/><issue index="2" name="Guests"/><issue index="3" name="Rooms"/><issue index="4" name="Rent"/>`
	p, err := scenario.ReadGeniusProfile(domain, []byte(`<utility_space type="nonlinear"><objective index="0">`+issues+`
<utility maxutility="400"><ufun type="PlainUfun" aggregation="sum" weight="1.0">
  <hyperRectangle utility="200" weight="0.5"><INCLUDES index="2" min="12" max="12"/><INCLUDES index="4" min="0.7" max="1.5"/></hyperRectangle>
  <hyperRectangle utility="40"/>
  <hyperRectangle utility="1000"><INCLUDES index="2" min="50" max="60"/></hyperRectangle>
  <ufun weight="0.25"><hyperRectangle utility="16"><INCLUDES index="3" min="0" max="9"/></hyperRectangle></ufun>
</ufun></utility></objective><reservation value="0.125"/></utility_space>`))
	require.NoError(t, err)
	// (.5 * 200 + 40 + .25 * 16) / 400, then omitting the first, and omitting the last.
	require.Equal(t, "0.36", p.Of(domain.Outcome(0, 2, 1, 2)).String())
	require.Equal(t, "0.11", p.Of(domain.Outcome(0, 2, 1, 0)).String())
	require.Equal(t, "0.35", p.Of(domain.Outcome(0, 2, 0, 1)).String())
	require.Equal(t, fixed.One/8, p.Reservation())
}
