package engine

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

func TestStrategyOfTheDocument(t *testing.T) {
	s := parsed(t, documentStrategy)
	require.Equal(t, uint64(1000), s.MinPrice)
	require.Equal(t, terms.Decimal(900_000), s.AutoAcceptThreshold)
	require.Equal(t, []DealBreaker{{FieldPrice, Less, Operand{Number: 500}}}, s.DealBreakers)
	require.Equal(t, uint32(10), s.MaxRounds, "default")
	require.Equal(t, uint64(500), s.Floor(), "the deal breaker is the floor")
	text, err := json.Marshal(s)
	require.NoError(t, err)
	require.Contains(t, string(text), `"auto_accept_threshold":0.9,`)
	require.Contains(t, string(text), `{"field":"price_per_fetch_micro","operator":"\u003c","value":500}`)
}

func TestPublicFactsHaveNoLimits(t *testing.T) {
	s := parsed(t, documentStrategy)
	text, err := json.Marshal(s.Public())
	require.NoError(t, err)
	require.JSONEq(t, `{"negotiation_style":"balanced","currency":"USD","allowed_purposes":["inference"],
		"published_floor_micro":500,"volume_tiers":[]}`, string(text))
}

func TestInvalidStrategies(t *testing.T) {
	for _, c := range [][2]string{
		{`"strategy_name":""`, `strategy_name: empty`},
		{`"negotiation_style":"kind"`, `negotiation_style: unknown style "kind"; use one of [aggressive`},
		{`"currency":"usd"`, `currency: "usd" is not 3 to 12 capital letters`},
		{`"publisher_id":-1`, `publisher_id: -1 is not from 0`},
		{`"max_price_per_fetch_micro":1000000001`, `max_price_per_fetch_micro: 1000000001 is above the limit`},
		{`"max_price_per_fetch_micro":1999`,
			`preferred_price_per_fetch_micro: 2000 is above the maximum of 1999`},
		{`"min_price_per_fetch_micro":2001`,
			`min_price_per_fetch_micro: 2001 is above the preferred price of 2000`},
		{`"published_floor_micro":1001`, `published_floor_micro: 1001 is above the minimum of 1000`},
		{`"max_token_ttl_seconds":599`, `preferred_token_ttl_seconds: 600 is not between the minimum of 0 and`},
		{`"max_token_ttl_seconds":31536001`, `max_token_ttl_seconds: 31536001 is above the limit of 31536000`},
		{`"min_burst_rps":11`, `preferred_burst_rps: 10 is not between the minimum of 11 and`},
		{`"allowed_purposes":[]`, `allowed_purposes: empty`},
		{`"allowed_purposes":["search"]`, `preferred_purposes: inference is not in allowed_purposes`},
		{`"allowed_purposes":["search","search"]`, `allowed_purposes: search occurs twice`},
		{`"max_rounds":0`, `max_rounds: 0 is not from 1 to 100`},
		{`"max_rounds":101`, `max_rounds: 101 is not from 1 to 100`},
		{`"timeout_seconds":0`, `timeout_seconds: 0 is not from 1`},
		{`"auto_accept_threshold":1.000001`, `auto_accept_threshold: 1.000001 is above 1`},
		{`"auto_accept_threshold":0.9000001`, `digits after the point`},
		{`"auto_accept_threshold":9e-1`, `is not an amount: write digits without sign or exponent`},
		{`"auto_accept_threshold":"0.9"`, `is not an amount: write digits without sign or exponent`},
		{`"llm_temperature":2.1`, `llm_temperature: 2.1 is above 2`},
		{`"llm_model":"a\u0000"`, `llm_model: contains the unprintable character U+0000`},
		{`"approval_above_micro":9007199254740992`, `approval_above_micro: 9007199254740992 is above`},
		{`"volume_tiers":[{"from_fetches":0,"price_per_fetch_micro":1500}]`, `volume_tiers[0]: from_fetches 0`},
		{`"volume_tiers":[{"from_fetches":1,"price_per_fetch_micro":999}]`,
			`price of 999 is below the minimum of 1000`},
		{`"volume_tiers":[{"from_fetches":1,"price_per_fetch_micro":2001}]`,
			`price of 2001 is above the price of 2000`},
		{`"volume_tiers":[{"from":1,"price_per_fetch_micro":2000}]`, `unknown field "from"`},
		{`"valid_from":"2026-01-02T00:00:00Z","valid_until":"2026-01-02T00:00:00Z"`, `is not after valid_from`},
		{`"valid_from":"tomorrow"`, `parsing time`},
		{`"hours":[{"from":"9:00","until":"17:00"}]`, `"9:00" is not a time of day; write it as 09:30`},
		{`"hours":[{"from":"24:00","until":"01:00"}]`, `hours[0]: 24:00 to 01:00 is not an interval`},
		{`"hours":[{"from":"01:00","until":"01:00"}]`, `hours[0]: 01:00 to 01:00 is not an interval`},
		{`"hours":[{"from":"01:00","to":"02:00"}]`, `unknown field "to"`},
		{`"time_zone":"Local"`, `time_zone: "Local" is not a time zone`},
		{`"time_zone":"../etc/passwd"`, `time_zone: "../etc/passwd" is not a time zone`},
		{`"max_rounds":3,"max_rounds":4`, `max_rounds: duplicate key`},
		{`"minimum":3`, `unknown field "minimum"`},
	} {
		added, problem := c[0], c[1]
		key, _, _ := strings.Cut(added, ":")
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(documentStrategy), &fields))
		delete(fields, strings.Trim(key, `"`))
		rest, err := json.Marshal(fields)
		require.NoError(t, err)
		_, err = ParseStrategy([]byte(`{` + added + `,` + string(rest[1:])))
		require.ErrorContains(t, err, problem, "%s", added)
	}
	_, err := ParseStrategy([]byte(`{"min_price_per_fetch_micro":1,"max_price_per_fetch_micro":2}`))
	require.ErrorContains(t, err, "preferred_price_per_fetch_micro: missing")
	_, err = ParseStrategy([]byte(strings.Repeat(" ", MaxStrategySize) + `{}`))
	require.ErrorContains(t, err, "65538 bytes: send at most 65536")
}

func TestDealBreakersAreChecked(t *testing.T) {
	for _, c := range [][2]string{
		{`{"field":"price","operator":"<","value":1}`, `unknown field "price"; use one of [price_per`},
		{`{"field":"burst_rps","operator":"=","value":1}`, `unknown operator "=" of burst_rps; use one of [<`},
		{`{"field":"burst_rps","operator":"contains","value":1}`, `unknown operator "contains" of burst_rps`},
		{`{"field":"purposes","operator":"<","value":"training"}`, `unknown operator "<" of purposes`},
		{`{"field":"purposes","operator":"contains","value":3}`, `the value of a numeric field is a number`},
		{`{"field":"burst_rps","operator":"<","value":"training"}`, `the value of a numeric field is a number`},
		{`{"field":"purposes","operator":"contains","value":"all"}`, `unknown purpose "all"`},
		{`{"field":"purposes","operator":"contains","value":"inference"}`, `contradicts allowed_purposes`},
		{`{"field":"purposes","operator":"lacks","value":"training"}`, `contradicts allowed_purposes`},
		{`{"field":"burst_rps","operator":"<","value":1.5}`, `cannot unmarshal number 1.5`},
		{`{"field":"burst_rps","operator":"<","value":9007199254740992}`,
			`the value is above 9007199254740991`},
		{`{"field":"burst_rps","operator":"<"}`, ``},
		{`{"field":"burst_rps","operator":"<","value":1,"reason":"x"}`, `unknown field "reason"`},
		{`{"field":"price_per_fetch_micro","operator":"<","value":1001}`, `reject prices below 1001`},
		{`{"field":"price_per_fetch_micro","operator":"<=","value":1000}`, `reject prices below 1001`},
		{`{"field":"price_per_fetch_micro","operator":"==","value":600}`, `rejects values from 0 to 5000`},
		{`{"field":"price_per_fetch_micro","operator":"!=","value":2000}`, `rejects values from 0 to 5000`},
		{`{"field":"price_per_fetch_micro","operator":">","value":4999}`, `rejects values from 1000 to 5000`},
		{`{"field":"price_per_fetch_micro","operator":">=","value":5001}`, ``},
		{`{"field":"price_per_fetch_micro","operator":"<=","value":999}`, ``},
		{`{"field":"token_ttl_seconds","operator":">","value":86399}`, `rejects values from 0 to 86400`},
		{`{"field":"token_ttl_seconds","operator":">","value":86400}`, ``},
		{`{"field":"burst_rps","operator":"==","value":100}`, `rejects values from 1 to 100`},
		{`{"field":"burst_rps","operator":"==","value":101}`, ``},
		{`{"field":"prepaid_fetches","operator":"<","value":1000}`, ``},
		{`{"field":"purposes","operator":"contains","value":"training"}`, ``},
		{`{"field":"purposes","operator":"lacks","value":"inference"}`, ``},
	} {
		breaker, problem := c[0], c[1]
		document := strings.Replace(documentStrategy,
			`{"field": "price_per_fetch_micro", "operator": "<", "value": 500}`, breaker, 1)
		_, err := ParseStrategy([]byte(document))
		if problem == "" {
			require.NoError(t, err, "%s", breaker)
			continue
		}
		require.ErrorContains(t, err, problem, "%s", breaker)
	}
}

func TestOperators(t *testing.T) {
	for operator, held := range map[Operator][3]bool{
		Less: {true, false, false}, LessOrEqual: {true, true, false}, Equal: {false, true, false},
		NotEqual: {true, false, true}, GreaterOrEqual: {false, true, true}, Greater: {false, false, true},
	} {
		for offset, expect := range held {
			number := uint32(9 + offset)
			for field, proposal := range map[Field]terms.Terms{
				FieldPrice: {Price: uint64(number)}, FieldTTL: {TTLSeconds: number}, FieldRPS: {BurstRPS: number},
				FieldPrepaid: {PrepaidFetches: uint64(number)},
			} {
				breaker := DealBreaker{field, operator, Operand{Number: 10}}
				require.Equal(t, expect, breaker.breaks(proposal), "%d: %s", number, breaker)
			}
		}
	}
	search := terms.Terms{Purposes: []terms.Purpose{terms.Search}}
	require.True(t, DealBreaker{FieldPurposes, Contains, Operand{Purpose: terms.Search}}.breaks(search))
	require.False(t, DealBreaker{FieldPurposes, Lacks, Operand{Purpose: terms.Search}}.breaks(search))
	require.False(t, DealBreaker{FieldPurposes, Contains, Operand{Purpose: terms.Training}}.breaks(search))
	require.True(t, DealBreaker{FieldPurposes, Lacks, Operand{Purpose: terms.Training}}.breaks(search))
}

func TestSchedule(t *testing.T) {
	s := parsed(t, documentStrategy)
	day := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err)
		return at
	}
	s.TimeZone = "Europe/Berlin"
	s.Hours = []Hours{{From: 9 * 60, Until: 17 * 60}, {From: 22 * 60, Until: 2 * 60}}
	s.ValidFrom, s.ValidUntil = day("2026-01-01T00:00:00Z"), day("2027-01-01T00:00:00Z")
	for text, want := range map[string]bool{
		"2026-01-15T07:59:59Z": false, "2026-01-15T08:00:00Z": true, "2026-01-15T15:59:59Z": true,
		"2026-01-15T16:00:00Z": false, "2026-07-15T07:00:00Z": true, // summer time
		"2026-01-15T21:00:00Z": true, "2026-01-15T00:59:59Z": true, "2026-01-15T01:00:00Z": false,
		"2025-12-31T23:59:59Z": false, "2026-01-01T00:00:00Z": true, "2026-12-31T23:59:59Z": true,
		"2027-01-01T00:00:00Z": false,
	} {
		require.Equal(t, want, applies(&s, day(text)), "%s", text)
	}
}

func FuzzParseStrategy(f *testing.F) {
	f.Add([]byte(documentStrategy))
	full := NewStrategy()
	full.MinPrice, full.PreferredPrice, full.MaxPrice = 1, 2, 3
	full.Hours, full.Tiers = []Hours{{60, 1440}}, []Tier{{10, 1}}
	full.DealBreakers = []DealBreaker{{FieldPurposes, Contains, Operand{Purpose: terms.Training}}}
	full.ValidFrom = noon
	text, err := json.Marshal(full)
	require.NoError(f, err)
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseStrategy(data)
		if err != nil {
			return
		}
		require.NoError(t, s.Validate())
		written, err := json.Marshal(s)
		require.NoError(t, err)
		again, err := ParseStrategy(written)
		require.NoError(t, err)
		require.Equal(t, s, again)
		_, err = Respond(&s, State{}, at(s.PreferredPrice))
		require.NoError(t, err)
	})
}
