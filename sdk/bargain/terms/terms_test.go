package terms_test

import (
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
)

func newDomain(t testing.TB) *bargain.Domain {
	domain, err := bargain.NewDomain(bargain.Price("price", 1_000, 2_000, 10), bargain.Integer("days", -1, 4),
		bargain.Categorical("colour\u2028", "red", "\"blue\" <é>"))
	require.NoError(t, err)
	return domain
}

func TestEachOutcomeHasOneDocument(t *testing.T) {
	domain := newDomain(t)
	for o := range bargain.Outcome(domain.Size()) {
		text, hash, err := terms.Write(domain, o)
		require.NoError(t, err)
		price, err := terms.Price(domain, o)
		require.NoError(t, err)
		read, err := terms.Check(domain, text, hash, price)
		require.NoError(t, err)
		require.Equal(t, o, read)
	}
	text, _, err := terms.Write(domain, 1)
	require.NoError(t, err)
	issues := "{\"colour\u2028\":\"\\\"blue\\\" <é>\",\"days\":\"-1\",\"price\":\"1000\"}"
	require.Equal(t, `{"issues":`+issues+`,"version":"haggle-terms-v1"}`, string(text))
}

func TestChangedDocumentsAreRefused(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 1_000, 2_000, 10), bargain.Integer("days", 1, 9))
	require.NoError(t, err)
	text, hash, err := terms.Write(domain, domain.Outcome(100, 6))
	require.NoError(t, err)
	require.Equal(t, `{"issues":{"days":"7","price":"2000"},"version":"haggle-terms-v1"}`, string(text))
	_, err = terms.Check(domain, append(text, ' '), hash, 2_000)
	require.ErrorIs(t, err, terms.ErrHash)
	_, err = terms.Check(domain, text, hash, 1_990)
	require.EqualError(t, err, "terms: document does not match the price of the offer: 2000, not 1990")
	for name, changed := range map[string]string{
		"another order": `{"issues":{"price":"2000","days":"7"},"version":"haggle-terms-v1"}`,
		"a space":       `{"issues":{"days":"7","price":"2000"}, "version":"haggle-terms-v1"}`,
		"version":       `{"issues":{"days":"7","price":"2000"},"version":"haggle-terms-v2"}`,
		"further issue": `{"issues":{"days":"7","penalty":"1","price":"2000"},"version":"haggle-terms-v1"}`,
		"missing issue": `{"issues":{"price":"2000"},"version":"haggle-terms-v1"}`,
		"repeated":      `{"issues":{"days":"1","days":"7","price":"2000"},"version":"haggle-terms-v1"}`,
		"range":         `{"issues":{"days":"10","price":"2000"},"version":"haggle-terms-v1"}`,
		"below":         `{"issues":{"days":"0","price":"2000"},"version":"haggle-terms-v1"}`,
		"tick":          `{"issues":{"days":"7","price":"1999"},"version":"haggle-terms-v1"}`,
		"sign":          `{"issues":{"days":"+7","price":"2000"},"version":"haggle-terms-v1"}`,
		"number":        `{"issues":{"days":7,"price":"2000"},"version":"haggle-terms-v1"}`,
		"empty":         ``,
	} {
		_, err := terms.Check(domain, []byte(changed), sha256.Sum256([]byte(changed)), 2_000)
		require.ErrorIs(t, err, terms.ErrForm, name)
	}
}

func TestDomainsNeedOnePrice(t *testing.T) {
	for _, issues := range [][]bargain.Issue{
		{bargain.Integer("days", 1, 9)}, {bargain.Price("a", 1, 2, 1), bargain.Price("b", 1, 2, 1)},
	} {
		domain, err := bargain.NewDomain(issues...)
		require.NoError(t, err)
		_, _, err = terms.Write(domain, 0)
		require.ErrorIs(t, err, terms.ErrDomain)
	}
	_, _, err := terms.Write(newDomain(t), bargain.NoOutcome)
	require.ErrorIs(t, err, terms.ErrDomain)
}

func FuzzCheck(f *testing.F) {
	domain := newDomain(f)
	text, _, err := terms.Write(domain, 7)
	require.NoError(f, err)
	f.Add(text, uint64(1_000))
	f.Fuzz(func(t *testing.T, text []byte, amount uint64) {
		o, err := terms.Check(domain, text, sha256.Sum256(text), amount)
		if err != nil {
			require.Equal(t, bargain.NoOutcome, o)
			return
		}
		again, _, err := terms.Write(domain, o)
		require.NoError(t, err)
		require.Equal(t, text, again)
	})
}
