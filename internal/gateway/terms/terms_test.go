package terms_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/internal/gateway/strictjson"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

const proposal = `{"price_per_fetch_micro":1500,"token_ttl_seconds":600,"burst_rps":10,` +
	`"purposes":["inference"]}`

func drawTerms(t *rapid.T) terms.Terms {
	drawn := terms.Terms{
		Price:      rapid.Uint64Range(0, terms.MaxPrice).Draw(t, "price"),
		TTLSeconds: rapid.Uint32Range(0, terms.MaxTTLSeconds).Draw(t, "ttl"),
		BurstRPS:   rapid.Uint32Range(0, terms.MaxRPS).Draw(t, "rps"),
		Purposes: rapid.SliceOfNDistinct(rapid.SampledFrom(terms.Purposes()), 1, 7, rapid.ID[terms.Purpose]).
			Draw(t, "purposes"),
	}
	drawn.PrepaidFetches = rapid.Uint64Range(0, terms.MaxFetches).Draw(t, "fetches")
	return drawn
}

func TestTermsOfTheProposal(t *testing.T) {
	parsed, err := terms.Parse([]byte(proposal))
	require.NoError(t, err)
	require.Equal(t, terms.Terms{
		Price: 1500, TTLSeconds: 600, BurstRPS: 10, Purposes: []terms.Purpose{terms.Inference},
	}, parsed)
	require.Equal(t, `{"burst_rps":10,"prepaid_fetches":0,"price_per_fetch_micro":1500,`+
		`"purposes":["inference"],"token_ttl_seconds":600}`, string(parsed.Canonical()))
}

func TestInvalidTerms(t *testing.T) {
	for _, c := range [][2]string{
		{`1500->1000000001`, `price_per_fetch_micro: 1000000001 is above the limit of 1000000000`},
		{`600->31536001`, `token_ttl_seconds: 31536001 is above the limit of 31536000`},
		{`10,->1000001,`, `burst_rps: 1000001 is above the limit of 1000000`},
		{`600->4294967296`, `cannot unmarshal number 4294967296`},
		{`1500->0.0015`, `cannot unmarshal number 0.0015`},
		{`1500->-1`, `cannot unmarshal number -1`},
		{`"inference"->`, `purposes: empty; name at least one of inference, training`},
		{`"inference"->"inference","inference"`, `purposes: inference occurs twice`},
		{`"inference"->"Inference"`, `unknown purpose "Inference"; use one of inference, training`},
		{`"inference"->7`, `a purpose is a string`},
		{`"burst_rps":10,->`, `burst_rps: missing`},
		{`600->600,"token_ttl_seconds":601`, `token_ttl_seconds: duplicate key`},
		{`600->600,"client_name":"x"`, `unknown field "client_name"`},
		{`600->600,"prepaid_fetches":10000000001`, `prepaid_fetches: 10000000001 is above the limit`},
		{`600->` + strings.Repeat(" ", 5000) + `600`, `5094 bytes: send at most 4096`},
	} {
		change, problem := c[0], c[1]
		from, to, _ := strings.Cut(change, "->")
		require.Contains(t, proposal, from)
		_, err := terms.Parse([]byte(strings.Replace(proposal, from, to, 1)))
		require.ErrorContains(t, err, problem, "%s", change)
	}
	require.ErrorContains(t, terms.Terms{Purposes: []terms.Purpose{8}}.Validate(), "unknown purpose 8")
}

func TestEqualTermsHaveEqualBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawTerms(t)
		require.NoError(t, a.Validate())
		b := a
		b.Purposes = rapid.Permutation(a.Purposes).Draw(t, "order")
		require.True(t, a.Equal(b))
		require.Equal(t, a.Canonical(), b.Canonical())
		text, err := json.Marshal(a.Normal())
		require.NoError(t, err)
		text, err = jcs.Transform(text)
		require.NoError(t, err)
		require.Equal(t, string(text), string(a.Canonical()))
		parsed, err := terms.Parse(a.Canonical())
		require.NoError(t, err)
		require.True(t, parsed.Equal(a), "no digit is lost")
		if a.PrepaidFetches > 0 {
			require.Equal(t, a.Price, a.Total()/a.PrepaidFetches, "the total does not overflow")
		}
		b.Price = (a.Price + 1) % terms.MaxPrice
		require.True(t, a.Matches(b))
		require.NotEqual(t, a.Canonical(), b.Canonical())
	})
}

func TestDecimalsAreExact(t *testing.T) {
	for units, text := range map[terms.Decimal]string{
		0: "0", 1: "0.000001", 1800: "0.0018", 100_000: "0.1", 1_000_000: "1", 12_500_000: "12.5",
		10_000_000: "10", 100: "0.0001", math.MaxUint64: "18446744073709.551615",
	} {
		require.Equal(t, text, units.String())
		parsed, err := terms.ParseDecimal(text)
		require.NoError(t, err)
		require.Equal(t, units, parsed)
	}
	for _, text := range []string{"", "-1", "1e-3", "0.0000001", "1800u", ".5", "18446744073709.551616"} {
		_, err := terms.ParseDecimal(text)
		require.EqualError(t, err, fmt.Sprintf("%q is not an amount: write digits without sign or exponent, at most "+
			"18446744073709.551615, with at most 6 digits after the point, such as 0.0018", text))
	}
}

func TestLicenseOfTheDocument(t *testing.T) {
	agreed := terms.Terms{
		Price: 1800, TTLSeconds: 600, BurstRPS: 10, PrepaidFetches: 5000,
		Purposes: []terms.Purpose{terms.Inference},
	}
	until := time.Date(2026, 12, 1, 1, 0, 0, 999, time.FixedZone("east", 3600))
	license, err := terms.NewLicenseDocument("site-a.local", "OpenAI", agreed, until)
	require.NoError(t, err)
	text, err := license.Text()
	require.NoError(t, err)
	require.Equal(t, `{"version":"1.0","publisher":"site-a.local","rules":[{"agent":"OpenAI","allow":true,`+
		`"price_per_fetch":0.0018,"token_ttl_seconds":600,"max_rps":10,"purpose":["inference"],`+
		`"prepaid_fetches":5000,"valid_until":"2026-12-01T00:00:00Z"}]}`, string(text))
	again, err := terms.ParseLicenseDocument(text)
	require.NoError(t, err)
	require.Equal(t, license, again)
	require.True(t, again.Rules[0].Terms().Equal(agreed))
}

func TestInvalidLicenses(t *testing.T) {
	agreed := terms.Terms{Purposes: []terms.Purpose{terms.Search}}
	until := time.Unix(1, 0)
	for _, c := range []struct {
		publisher, agent string
		agreed           terms.Terms
		until            time.Time
		problem          string
	}{
		{"", "a", agreed, until, "publisher: empty"},
		{"p", "", agreed, until, "agent: empty"},
		{"p", "a\x1b[0m", agreed, until, "agent: contains the unprintable character U+001B"},
		{"p", strings.Repeat("a", 254), agreed, until, "agent: 254 characters; use at most 253"},
		{"p\xff", "a", agreed, until, "publisher: not valid UTF-8"},
		{"p", "a", terms.Terms{}, until, "purposes: empty"},
		{"p", "a", agreed, time.Time{}, "valid_until: not set"},
	} {
		_, err := terms.NewLicenseDocument(c.publisher, c.agent, c.agreed, c.until)
		require.ErrorIs(t, err, terms.ErrInvalid)
		require.ErrorContains(t, err, c.problem)
	}
	valid, err := terms.NewLicenseDocument("p", "a", agreed, until)
	require.NoError(t, err)
	valid.Rules = append(valid.Rules, valid.Rules[0])
	require.ErrorContains(t, valid.Validate(), `rules[1]: agent "a" has two rules`)
	valid.Rules = nil
	require.ErrorContains(t, valid.Validate(), "rules: 0; a license has 1 to 16")
	valid.Version = "2.0"
	require.ErrorContains(t, valid.Validate(), `version: "2.0" is unknown`)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(proposal))
	f.Add([]byte(`{"price_per_fetch_micro":1500,"price_per_fetch_micro":1}`))
	f.Add([]byte(`{"price_per_fetch_micro":1e3,"purposes":["search","search"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		parsed, err := terms.Parse(data)
		if err != nil {
			return
		}
		require.NoError(t, parsed.Validate())
		again, err := terms.Parse(parsed.Canonical())
		require.NoError(t, err)
		require.Equal(t, parsed, again)
	})
}

func FuzzParseLicense(f *testing.F) {
	license, err := terms.NewLicenseDocument("site-a.local", "OpenAI",
		terms.Terms{Price: 1800, Purposes: []terms.Purpose{terms.Search}}, time.Unix(1_800_000_000, 0))
	require.NoError(f, err)
	text, err := license.Text()
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"version":"1.0","publisher":"p","rules":[{"valid_until":"9999-12-31T23:59:59-01:00"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		parsed, err := terms.ParseLicenseDocument(data)
		if err != nil {
			return
		}
		written, err := parsed.Text()
		require.NoError(t, err)
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(written, &fields))
		again, err := terms.ParseLicenseDocument(written)
		require.NoError(t, err)
		require.Equal(t, parsed, again)
		require.NotErrorIs(t, err, strictjson.ErrInvalid)
	})
}
