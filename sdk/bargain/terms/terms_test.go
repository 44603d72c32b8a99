package terms_test

import (
	"crypto/sha256"
	"strings"
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
	committed := terms.Committed{Commitment: [32]byte{1}, Answers: [32]byte{2}}
	text, _, err = terms.WriteCommitted(domain, 7, committed)
	require.NoError(f, err)
	f.Add(text, uint64(1_000))
	f.Fuzz(func(t *testing.T, text []byte, amount uint64) {
		o, err := terms.Check(domain, text, sha256.Sum256(text), amount)
		if err != nil {
			require.Equal(t, bargain.NoOutcome, o)
			return
		}
		committed, err := terms.CommittedIn(text)
		require.NoError(t, err)
		again, _, err := terms.WriteCommitted(domain, o, committed)
		require.NoError(t, err)
		require.Equal(t, text, again)
	})
}

func TestADocumentCanHaveACommitment(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 1_000, 2_000, 10), bargain.Integer("days", 1, 9))
	require.NoError(t, err)
	o := domain.Outcome(100, 6)
	committed := terms.Committed{Commitment: [32]byte{7}, Answers: [32]byte{0: 0xab, 31: 1}}
	text, hash, err := terms.WriteCommitted(domain, o, committed)
	require.NoError(t, err)
	zeros := strings.Repeat("0", 60)
	require.Equal(t, `{"answers":"ab`+zeros+`01","commitment":"07`+zeros+
		`00","issues":{"days":"7","price":"2000"},"version":"haggle-terms-v1"}`, string(text))
	read, err := terms.Check(domain, text, hash, 2_000)
	require.NoError(t, err)
	require.Equal(t, o, read)
	in, err := terms.CommittedIn(text)
	require.NoError(t, err)
	require.Equal(t, committed, in)

	plain, _, err := terms.Write(domain, o)
	require.NoError(t, err)
	in, err = terms.CommittedIn(plain)
	require.NoError(t, err)
	require.Zero(t, in)

	for name, change := range map[string][2]string{
		"capitals":      {`"answers":"ab`, `"answers":"AB`},
		"short":         {`"commitment":"07`, `"commitment":"`},
		"long":          {`"commitment":"07`, `"commitment":"0700`},
		"zero":          {`"commitment":"07`, `"commitment":"00`},
		"no digits":     {`"commitment":"07`, `"commitment":"g7`},
		"empty":         {`"commitment":"07` + zeros + `00"`, `"commitment":""`},
		"number":        {`"commitment":"07` + zeros + `00"`, `"commitment":7`},
		"repeated":      {`"commitment":`, `"commitment":"` + zeros + `0000","commitment":`},
		"other case":    {`"commitment":`, `"Commitment":`},
		"further field": {`"answers":`, `"agent":"1","answers":`},
		"version":       {"terms-v1", "terms-v2"},
		"space":         {`"issues":`, ` "issues":`},
	} {
		changed := strings.Replace(string(text), change[0], change[1], 1)
		require.NotEqual(t, string(text), changed, name)
		_, err := terms.CommittedIn([]byte(changed))
		require.ErrorIs(t, err, terms.ErrForm, name)
		_, err = terms.Check(domain, []byte(changed), sha256.Sum256([]byte(changed)), 2_000)
		require.ErrorIs(t, err, terms.ErrForm, name)
	}
	_, err = terms.CommittedIn(make([]byte, terms.MaxSize+1))
	require.ErrorIs(t, err, terms.ErrForm)
}
