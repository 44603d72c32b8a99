package proving

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
)

func TestDifferencesNameTheFileAndTheChain(t *testing.T) {
	terms := proof.Terms{Escrow: 5, MaxRounds: 6, DecayRateBps: 7, MinOfferBps: 8, FeeBps: 9}
	none := "11111111111111111111111111111111"
	other := "4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi"
	for want, change := range map[string]func(c *course){
		"": func(*course) {},
		"buyer: " + none + " in the file, " + other + " on chain; " +
			"seller: " + none + " in the file, " + other + " on chain": func(c *course) {
			for i := range c.terms.Buyer {
				c.terms.Buyer[i], c.terms.Seller[i] = 1, 1
			}
		},
		"escrow: 5 base units in the file, 1 base unit on chain; rounds: 6 in the file, 3 on chain": func(
			c *course,
		) {
			c.terms.Escrow, c.terms.MaxRounds = 1, 3
		},
		"decay: 7 basis points in the file, 1 basis point on chain; " +
			"least offer: 8 basis points in the file, 1 basis point on chain; " +
			"fee: 9 basis points in the file, 1 basis point on chain; " +
			"bond: 0 base units in the file, 1 base unit on chain": func(c *course) {
			c.terms.DecayRateBps, c.terms.MinOfferBps, c.terms.FeeBps, c.terms.Bond = 1, 1, 1, 1
		},
		"offer 2: 3 base units in the file, 4 base units on chain": func(c *course) { c.offers[1].Amount = 4 },
		"metadata of offer 1: none in the file, 0102 on chain": func(c *course) {
			c.offers[0].Metadata = proof.Metadata{1, 2}
		},
		"number of offers: 2 in the file, 1 on chain":           func(c *course) { c.offers = c.offers[:1] },
		"end: accepted by the buyer in the file, none on chain": func(c *course) { c.last = nil },
		"end: accepted by the buyer in the file, expired on chain": func(c *course) {
			c.last = &proof.Last{Move: "expire"}
		},
		"end: accepted by the buyer in the file, rejected by the seller on chain": func(c *course) {
			c.last = &proof.Last{By: proof.Seller, Move: "reject"}
		},
	} {
		c := &course{terms: terms, offers: []proof.Offer{{Amount: 2}, {Amount: 3}}}
		c.last = &proof.Last{By: proof.Buyer, Move: "accept"}
		p := &proof.Proof{Terms: terms, Offers: []proof.Offer{{Amount: 2}, {Amount: 3}}, Last: c.last}
		change(c)
		require.Equal(t, want, c.difference(p))
	}
}

func TestAnUnfinishedProofIsNotDifferent(t *testing.T) {
	c := &course{offers: []proof.Offer{{Amount: 2}, {Amount: 3}}}
	for _, c.last = range []*proof.Last{nil, {Move: "expire"}} {
		for length := range 3 {
			require.Empty(t, c.difference(&proof.Proof{Offers: c.offers[:length]}))
		}
		longer := []proof.Offer{{Amount: 2}, {Amount: 3}, {Amount: 4}}
		require.Equal(t, "number of offers: 3 in the file, 2 on chain", c.difference(&proof.Proof{Offers: longer}))
		other := []proof.Offer{{Amount: 1}}
		require.Equal(t, "offer 1: 1 base unit in the file, 2 base units on chain",
			c.difference(&proof.Proof{Offers: other}))
	}
}
