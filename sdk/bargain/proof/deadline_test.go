package proof_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

// TestTheTimesOfOffersAreProved has a seller with MiCRO that accepts the first offer, because it leaves no full response
// window before the global deadline. With an earlier offer, or a deadline that both sides have extended before, MiCRO
// goes on.
func TestTheTimesOfOffersAreProved(t *testing.T) {
	late := terms.GlobalDeadline - terms.ResponseWindow
	made := func(offers ...proof.Offer) *proof.Proof {
		p := &proof.Proof{
			Version: proof.Version, Terms: terms, Side: proof.Seller, Offers: offers,
			Last: &proof.Last{By: proof.Seller, Move: "accept"}, Reveal: revealed("micro", proof.Seller),
		}
		commit(t, p)
		return p
	}
	const within = 3_100_000
	result, err := verifyFile(t, made(proof.Offer{Amount: within, At: late}))
	require.NoError(t, err)
	require.True(t, result.Ended)
	_, err = verifyFile(t, made(proof.Offer{Amount: within, At: late - 1}))
	require.ErrorIs(t, err, proof.ErrReplay)

	rules := onchain.Rules{
		Escrow: terms.Escrow, MaxRounds: terms.MaxRounds, DecayRateBps: terms.DecayRateBps,
		MinOfferBps: terms.MinOfferBps, FeeBps: terms.FeeBps,
	}
	seller, err := rules.Player(strategy.MiCRO(), onchain.Seller, 4_500_000, 3_000_000)
	require.NoError(t, err)
	n := rules.Negotiation()
	onchain.Apply(n, onchain.Buyer, 500_000, 0)
	first := uint64(seller.Respond(n, onchain.Seller, []onchain.Offer{{Amount: 500_000}}, 9).Outcome)
	for granted, want := range map[uint32]error{0: nil, 60: proof.ErrReplay} {
		p := made(proof.Offer{Amount: 500_000, At: 1, DeadlineExtension: 600},
			proof.Offer{Amount: first, At: 2, DeadlineExtension: granted}, proof.Offer{Amount: within, At: late})
		p.Offers[1].Metadata = p.Commitment.Metadata()
		_, err = verifyFile(t, p)
		require.ErrorIs(t, err, want, "extended by %d s", granted)
	}

	for _, at := range [][2]int64{{-1, 0}, {2, 1}, {1, terms.GlobalDeadline}} {
		_, err = made(proof.Offer{Amount: 500_000, At: at[0]}, proof.Offer{Amount: first, At: at[1]}).Verify()
		require.ErrorIs(t, err, proof.ErrTerms, "%v", at)
	}
}
