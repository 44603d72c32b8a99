package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

func TestMetricsOfAnAgreement(t *testing.T) {
	s := parsed(t, documentStrategy)
	proposals := []terms.Terms{at(1500), at(1800)}
	metrics, err := Measure(&s, proposals, at(1800))
	require.NoError(t, err)
	require.Equal(t, "0.92", metrics.Publisher.String())
	require.Equal(t, "0.965714", metrics.Client.String(), "0.6 + 0.4 (5000 - 1800) / (5000 - 1500)")
	require.Equal(t, "0.888456", metrics.NashProduct.String())
	require.True(t, metrics.ParetoEfficient)
	require.Zero(t, metrics.ParetoDistance)
	require.Equal(t, uint64(2000), metrics.Nash.Price, "the client loses little up to the preferred price")
	require.Equal(t, "0.942302", metrics.NashShare.String(), "0.92 0.965714 / (1 0.942857)")

	best, err := Measure(&s, proposals, at(2000))
	require.NoError(t, err)
	require.Equal(t, One, best.NashShare)

	wasteful := at(1800)
	wasteful.TTLSeconds = 300 // both want 600
	metrics, err = Measure(&s, proposals, wasteful)
	require.NoError(t, err)
	require.False(t, metrics.ParetoEfficient)
	require.NotZero(t, metrics.ParetoDistance)
}

func TestMetricsNeedValidTerms(t *testing.T) {
	s := parsed(t, documentStrategy)
	_, err := Measure(&s, nil, at(1800))
	require.EqualError(t, err, "metrics: no proposals; pass the client's proposals")
	_, err = Measure(&s, []terms.Terms{at(1)}, terms.Terms{})
	require.ErrorIs(t, err, terms.ErrInvalid)
}

func TestMetricsAreInTheirRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStrategy(t)
		proposals := []terms.Terms{drawProposal(t, &s), drawProposal(t, &s)}
		agreed := s.within(proposals[1])
		metrics, err := Measure(&s, proposals, agreed)
		require.NoError(t, err)
		for _, metric := range []terms.Decimal{metrics.Publisher, metrics.Client, metrics.NashShare} {
			require.LessOrEqual(t, metric, One)
		}
		require.Equal(t, metrics.ParetoEfficient, metrics.ParetoDistance == 0)
		require.NoError(t, metrics.Nash.Validate())
	})
}
