package terms_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

func TestAnIntegerIssueBecomesThePrice(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Integer("price", 3, 7), bargain.Integer("days", -1, 2))
	require.NoError(t, err)
	u, err := utility.NewAdditive(domain, 0, []fixed.Number{fixed.One / 2, fixed.One / 2},
		utility.Line{Last: fixed.One, Count: 5}, utility.Line{First: fixed.One, Count: 4})
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, u, fixed.One/10)
	require.NoError(t, err)
	priced, err := terms.Priced(p, "price", 1_000_000)
	require.NoError(t, err)
	require.Equal(t, p.Reservation(), priced.Reservation())
	for o := range bargain.Outcome(domain.Size()) {
		price, err := terms.Price(priced.Domain(), o)
		require.NoError(t, err)
		require.Equal(t, uint64(domain.Issue(0).Int(domain.Value(o, 0)))*1_000_000, price)
		require.Equal(t, p.Of(o), priced.Of(o))
	}
	_, err = terms.Priced(p, "days", 1)
	require.ErrorIs(t, err, terms.ErrDomain, "negative")
	_, err = terms.Priced(p, "price", 1<<62)
	require.ErrorIs(t, err, terms.ErrDomain, "beyond 64 bits")
	_, err = terms.Priced(p, "cost", 1)
	require.EqualError(t, err, `terms: invalid domain or outcome: no issue is named "cost"`)
}
