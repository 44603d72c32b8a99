package hire

import (
	"crypto/ed25519"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMalformedValuesAreRefused(t *testing.T) {
	accept := func(price, deadline, arbiter string) string {
		return `{"accepted_terms":{"price":"` + price + `","deadline":"` + deadline + `","arbiter":"` + arbiter + `"}}`
	}
	parse := func(payload string) error {
		text := strings.Replace(plain(payload, ""), `"inquiry"`, `"accept"`, 1)
		_, err := Parse([]byte(text))
		return err
	}
	const price, noon = "5 USDC", "2025-01-30T12:00:00Z"
	require.NoError(t, parse(accept(price, noon, address)))
	require.NoError(t, parse(accept("0.000001 USDC", "2025-01-30T12:00:00.5Z", address)))
	for _, payload := range []string{
		accept("5", noon, address), accept("5USDC", noon, address), accept("-5 USDC", noon, address),
		accept("+5 USDC", noon, address), accept("05 USDC", noon, address), accept("5e3 USDC", noon, address),
		accept("5. USDC", noon, address), accept(".5 USDC", noon, address), accept("5 usdc", noon, address),
		accept("5  USDC", noon, address), accept("5 USDC ", noon, address), accept(`5 USDC\n`, noon, address),
		accept("5 UЅDC", noon, address), accept(price, "tomorrow", address),
		accept(price, "2025-01-30T12:00:00+01:00", address), accept(price, "2025-02-30T12:00:00Z", address),
		accept(price, noon, ""), accept(price, noon, address[1:]), accept(price, noon, address+"1"),
		accept(price, noon, strings.Repeat("0", 32)),
		`{"in_reply_to":"` + strings.Repeat("A", 64) + `","accepted_terms":{"price":"5 USDC","deadline":"` + noon + `"}}`,
		`{"in_reply_to":"","accepted_terms":{"price":"5 USDC","deadline":"` + noon + `"}}`,
	} {
		var refusal *Refusal
		require.ErrorAs(t, parse(payload), &refusal, payload)
		require.Equal(t, ReasonMalformed, refusal.Reason, payload)
	}
	for _, units := range []string{"0", "01", "-1", "1.5", "18446744073709551616", ""} {
		var parsed Units
		require.Error(t, json.Unmarshal([]byte(`"`+units+`"`), &parsed), units)
	}
	most, err := Units("18446744073709551615").Uint64()
	require.NoError(t, err)
	require.Equal(t, ^uint64(0), most)
}

func TestPriceIsExact(t *testing.T) {
	assets := []Asset{{"USDC", "mint-of-usdc", 6}, {"SOL", "mint-of-sol", 9}, {"WHOLE", "mint-of-whole", 0}}
	for price, units := range map[Price]uint64{
		"5 USDC": 5_000_000, "0.1 USDC": MinUnits, "1.100000 USDC": 1_100_000, "0.0001 SOL": MinUnits,
		"18446744073709.551615 USDC": ^uint64(0), "100000 WHOLE": MinUnits,
	} {
		asset, got, err := price.Units(assets)
		require.NoError(t, err, price)
		require.Equal(t, units, got, price)
		require.True(t, strings.HasSuffix(string(price), " "+asset.Symbol))
	}
	for _, price := range []Price{
		"0 USDC", "0.099999 USDC", "0.0999999 USDC", "1.1234567 USDC", "18446744073709.551616 USDC", "5 EURC", "5 USD",
		"99999 WHOLE", "100000.0 WHOLE", "", "5", "5 usdc",
	} {
		_, _, err := price.Units(assets)
		var refusal *Refusal
		require.ErrorAs(t, err, &refusal, price)
		require.Equal(t, ReasonPrice, refusal.Reason, price)
	}
}

// The did:key is an example of the method's specification.
func TestIDsContainTheirKeys(t *testing.T) {
	const published = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp"
	key, err := KeyOf(published)
	require.NoError(t, err)
	require.Equal(t, published, DIDKey(key))

	key = keyOf(seeker).Public().(ed25519.PublicKey)
	for _, id := range []string{DIDKey(key), Address(key)} {
		got, err := KeyOf(id)
		require.NoError(t, err)
		require.Equal(t, key, got)
	}
	for _, id := range []string{
		"", "agent_seeker_001", "did:key:", "did:key:z", "did:web:example.com", published[:len(published)-1],
		published + "1", strings.ToUpper(published), "did:key:z1" + published[len(didKey):], "1" + Address(key),
		"did:key:z" + Address(key), "https://example.com",
	} {
		_, err := KeyOf(id)
		var refusal *Refusal
		require.ErrorAs(t, err, &refusal, id)
		require.Equal(t, ReasonIdentity, refusal.Reason, id)
	}
}

func FuzzKeyOf(f *testing.F) {
	key := keyOf(seeker).Public().(ed25519.PublicKey)
	f.Add(DIDKey(key))
	f.Add(Address(key))
	f.Fuzz(func(t *testing.T, id string) {
		key, err := KeyOf(id)
		if err == nil {
			require.Contains(t, []string{DIDKey(key), Address(key)}, id, "a key has one id of each kind")
		}
	})
}

func TestTermsHashIgnoresNothing(t *testing.T) {
	terms := Terms{Price: "5 USDC", Deadline: deadline, Arbiter: address}
	seen := map[[32]byte]bool{terms.Hash(): true}
	for _, other := range []Terms{
		{Price: "5.0 USDC", Deadline: deadline, Arbiter: address}, {Price: "5 USDC", Deadline: deadline},
		{Price: "5 USDC", Deadline: "2025-01-31T12:00:01Z", Arbiter: address},
	} {
		require.False(t, seen[other.Hash()])
		seen[other.Hash()] = true
	}
	require.Equal(t, terms.Hash(), Terms{Arbiter: address, Price: "5 USDC", Deadline: deadline}.Hash())
}
