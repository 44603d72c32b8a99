package proof_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

// TestParametersAreProved shows that the commitment and the replay depend on the parameters of the strategy.
func TestParametersAreProved(t *testing.T) {
	for _, side := range []proof.Side{proof.Buyer, proof.Seller} {
		p := played(t, side, "negmas-boulware:e=1.5", "hardliner")
		result, err := verifyFile(t, p)
		require.NoError(t, err)
		require.Equal(t, 3, result.Offers)
		for name, want := range map[string]error{
			"negmas-boulware": proof.ErrReplay, "negmas-boulware:e=1.6": proof.ErrReplay,
			"negmas-boulware:e=0.5": proof.ErrStrategy, "boulware:e=1.5": proof.ErrStrategy,
			"negmas-boulware:e=1.50": proof.ErrStrategy, "negmas-boulware:e=4": proof.ErrStrategy,
		} {
			p.Reveal.Strategy.Name = name
			_, err := p.Verify()
			require.ErrorIs(t, err, proof.ErrCommitment, name)
			commit(t, p)
			_, err = verifyFile(t, p)
			require.ErrorIs(t, err, want, name)
		}
		p.Reveal.Strategy.Name = "boulware:e=1.5"
		commit(t, p)
		_, err = p.Verify()
		require.EqualError(t, err,
			`proof: invalid strategy: name "boulware:e=1.5" must be "negmas-boulware:e=1.5"`)
	}
}

// A buyer's limit on price and decay decides moves, so a proof without it is not a proof of them.
func TestMaxTotalIsProved(t *testing.T) {
	rules := onchain.Rules{
		Escrow: terms.Escrow, MaxRounds: terms.MaxRounds, DecayRateBps: terms.DecayRateBps,
		MinOfferBps: terms.MinOfferBps, FeeBps: terms.FeeBps, ResponseWindow: 300, Deadline: 3_600,
	}
	buyer, err := rules.Player(strategy.Linear(), onchain.Buyer, 2_000_000, 3_500_000)
	require.NoError(t, err)
	buyer.MaxTotal = 3_500_000
	seller, err := rules.Player(strategy.Hardliner(), onchain.Seller, 4_500_000, 4_000_000)
	require.NoError(t, err)
	result, err := rules.Run(9, buyer, seller)
	require.NoError(t, err)
	p := &proof.Proof{Version: proof.Version, Terms: terms, Side: proof.Buyer, Reveal: revealed("linear", proof.Buyer)}
	for _, offer := range result.History {
		p.Offers = append(p.Offers, proof.Offer{Amount: uint64(offer.Outcome), At: terms.CreatedAt})
	}
	p.Reveal.Strategy.MaxTotal = 3_500_000
	commit(t, p)
	verified, err := verifyFile(t, p)
	require.NoError(t, err)
	require.Equal(t, 3, verified.Offers)
	require.EqualValues(t, 3_019_604, p.Offers[4].Amount, "3.5 less the decay of five offers")
	p.Reveal.Strategy.MaxTotal = 0
	commit(t, p)
	_, err = verifyFile(t, p)
	require.ErrorIs(t, err, proof.ErrReplay)
	sold := played(t, proof.Seller, "linear", "linear")
	sold.Reveal.Strategy.MaxTotal = 1
	commit(t, sold)
	_, err = sold.Verify()
	require.ErrorIs(t, err, proof.ErrStrategy)
}
