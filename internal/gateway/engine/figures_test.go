package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

func TestFiguresOfTheDocumentsAgreement(t *testing.T) {
	s := parsed(t, documentStrategy)
	proposals := []terms.Terms{at(1500), at(1800)}
	figures, err := Measure(&s, proposals, at(1800))
	require.NoError(t, err)
	require.Equal(t, "0.92", figures.Publisher.String())
	require.Equal(t, "0.965714", figures.Client.String(), "0.6 + 0.4 (5000 - 1800) / (5000 - 1500)")
	require.Equal(t, "0.888456", figures.NashProduct.String())
	require.True(t, figures.ParetoEfficient)
	require.Zero(t, figures.ParetoDistance)
	require.Equal(t, uint64(2000), figures.Nash.Price, "the client loses little up to the preferred price")
	require.Equal(t, "0.942302", figures.NashShare.String(), "0.92 0.965714 / (1 0.942857)")

	best, err := Measure(&s, proposals, at(2000))
	require.NoError(t, err)
	require.Equal(t, One, best.NashShare)

	wasteful := at(1800)
	wasteful.TTLSeconds = 300 // both want 600
	figures, err = Measure(&s, proposals, wasteful)
	require.NoError(t, err)
	require.False(t, figures.ParetoEfficient)
	require.NotZero(t, figures.ParetoDistance)
}

func TestFiguresNeedValidTerms(t *testing.T) {
	s := parsed(t, documentStrategy)
	_, err := Measure(&s, nil, at(1800))
	require.EqualError(t, err, "figures: no proposals; pass the client's proposals")
	_, err = Measure(&s, []terms.Terms{at(1)}, terms.Terms{})
	require.ErrorIs(t, err, terms.ErrInvalid)
}

func TestFiguresAreInTheirRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStrategy(t)
		proposals := []terms.Terms{drawProposal(t, &s), drawProposal(t, &s)}
		agreed := s.within(proposals[1])
		figures, err := Measure(&s, proposals, agreed)
		require.NoError(t, err)
		for _, figure := range []terms.Decimal{figures.Publisher, figures.Client, figures.NashShare} {
			require.LessOrEqual(t, figure, One)
		}
		require.Equal(t, figures.ParetoEfficient, figures.ParetoDistance == 0)
		require.NoError(t, figures.Nash.Validate())
	})
}
