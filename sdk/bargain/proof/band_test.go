package proof_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
)

// modelled returns a proof for a side played by a model with a band. The escrow 5,000,000 loses 100,000 with
// the first offer, then 98,000, 96,040 and 94,119. The buyer offers 2,000,000, the seller 4,000,000, the
// buyer 2,500,000, and the seller 3,000,000; the buyer accepts the last offer.
func modelled(t *testing.T, side proof.Side, band *proof.Band) *proof.Proof {
	t.Helper()
	p := &proof.Proof{
		Version: proof.Version, Terms: terms, Side: side, Last: &proof.Last{By: proof.Buyer, Move: "accept"},
		Offers: []proof.Offer{{Amount: 2_000_000}, {Amount: 4_000_000}, {Amount: 2_500_000}, {Amount: 3_000_000}},
		Reveal: proof.Reveal{Model: &proof.Model{Name: "model-1", Prompt: proof.Hash{4}, Band: band}, Nonce: proof.Hash{5}},
	}
	commit(t, p)
	return p
}

func TestPricesOfAModelAreComparedWithItsBand(t *testing.T) {
	const accepted = 3_000_000 + 100_000 + 98_000 + 96_040 + 94_119
	for name, c := range map[string]struct {
		side         proof.Side
		lower, upper uint64
		offers       int
		ended        bool
		outside      *proof.Outside
	}{
		"buyer within": {proof.Buyer, 2_100_000, accepted, 2, true, nil},
		"buyer below": {proof.Buyer, 2_100_001, accepted, 2, true,
			&proof.Outside{Offer: 1, Price: 2_100_000}},
		"buyer above by the decay of its own offer": {proof.Buyer, 0, 2_794_039, 2, true,
			&proof.Outside{Offer: 3, Price: 2_794_040}},
		"buyer accepts above": {proof.Buyer, 0, accepted - 1, 2, true,
			&proof.Outside{Offer: 4, Accepted: true, Price: accepted}},
		"seller within": {proof.Seller, 3_000_000, 4_000_000, 2, false, nil},
		"seller above":  {proof.Seller, 3_000_000, 3_999_999, 2, false, &proof.Outside{Offer: 2, Price: 4_000_000}},
		"seller below":  {proof.Seller, 3_000_001, 4_000_000, 2, false, &proof.Outside{Offer: 4, Price: 3_000_000}},
	} {
		t.Run(name, func(t *testing.T) {
			p := modelled(t, c.side, &proof.Band{Lower: c.lower, Upper: c.upper})
			result, err := p.Verify()
			require.NoError(t, err)
			require.Equal(t, proof.Result{
				Banded: true, Offers: c.offers, Ended: c.ended, Published: true, Outside: c.outside,
			}, result)
		})
	}
}

// The commitment covers both ends of the band, and the file keeps them.
func TestTheBandIsCommitted(t *testing.T) {
	for _, change := range []func(*proof.Model){
		func(m *proof.Model) { m.Band.Lower-- },
		func(m *proof.Model) { m.Band.Upper++ },
		func(m *proof.Model) { m.Band = nil },
	} {
		p := modelled(t, proof.Seller, &proof.Band{Lower: 3_000_001, Upper: 4_000_000})
		change(p.Reveal.Model)
		_, err := p.Verify()
		require.ErrorIs(t, err, proof.ErrCommitment)
	}
	p := modelled(t, proof.Seller, &proof.Band{Lower: 3_000_000, Upper: 4_000_000})
	var file bytes.Buffer
	require.NoError(t, p.Write(&file))
	require.Contains(t, file.String(), `"lower": "3000000"`)
	again, err := proof.Read(&file)
	require.NoError(t, err)
	require.Equal(t, p, again)
}

func TestABandWithoutAPriceIsInvalid(t *testing.T) {
	for _, band := range []proof.Band{{}, {Lower: 1}, {Lower: 3, Upper: 2}} {
		_, err := modelled(t, proof.Buyer, &band).Verify()
		require.EqualError(t, err, fmt.Sprintf("proof: invalid strategy: band of %d to %d", band.Lower, band.Upper))
	}
}
