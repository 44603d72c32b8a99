package policy_test

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// banded sets the bands of the mint.
func banded(buyer, seller policy.Band) func(*policy.Config) {
	return func(c *policy.Config) {
		limits := c.Tokens[mint]
		limits.BuyerBand, limits.SellerBand = buyer, seller
		c.Tokens[mint] = limits
	}
}

// sold returns a negotiation where the wallet is the seller.
func (s *stage) sold() solana.PublicKey {
	s.t.Helper()
	address, invited := s.invitation(7, 0)
	s.config.Negotiations = chain{address: invited.Encode()}
	s.restart()
	require.NoError(s.t, s.sign(s.join(address, invited)))
	return address
}

// A deposit of 3,000,000 loses 60,000 in the first offer at 2 % of decay, and 118,800 in two.
func TestPricesOfABuyerAreWithinTheBand(t *testing.T) {
	s := newStage(t, banded(policy.Band{Lower: 1_000_000, Upper: 2_000_000}, policy.Band{}))
	creation := s.creation(friend, 1, 3_000_000)
	creation.Params.DecayRateBps = 200
	require.NoError(t, s.sign(s.build(creation)))
	address := s.negotiation(s.wallet(), friend, 1)

	denial := s.denied(policy.RuleBand, s.offer(address, 0, 939_999))
	require.Equal(t, []uint64{939_999, 60_000, 1_000_000}, []uint64{denial.Requested, denial.Used, denial.Limit})
	require.EqualError(t, denial, "haggle: policy denied: price band: "+address.String()+
		": price 939999 and decay 60000: 999999 in all, at least 1000000 base units of "+mint.String()+
		" (instruction 0, haggle.submit_offer)")
	require.NoError(t, s.sign(s.offer(address, 0, 940_000)))
	denial = s.denied(policy.RuleBand, s.offer(address, 0, 1_940_001))
	require.ErrorContains(t, denial, ": price 1940001 and decay 60000: 2000001 in all, at most 2000000 base units of ")
	require.NoError(t, s.sign(s.offer(address, 0, 1_940_000)))

	// An acceptance adds no offer.
	s.denied(policy.RuleBand, s.accept(address, s.wallet(), friend, 2, 2_000_000-118_800+1))
	s.denied(policy.RuleBand, s.accept(address, s.wallet(), friend, 2, 1_000_000-118_800-1))
	require.NoError(t, s.sign(s.accept(address, s.wallet(), friend, 2, 2_000_000-118_800)))

	// The band limits a buyer's price only.
	require.NoError(t, s.sign(s.offer(s.sold(), 1, 2_500_000)))
}

func TestPricesOfASellerAreWithinTheBand(t *testing.T) {
	s := newStage(t, banded(policy.Band{}, policy.Band{Lower: 1_000_000, Upper: 2_000_000}))
	address := s.sold()
	denial := s.denied(policy.RuleBand, s.offer(address, 1, 999_999))
	require.ErrorContains(t, denial, ": price 999999, at least 1000000 base units of ")
	denial = s.denied(policy.RuleBand, s.offer(address, 1, 2_000_001))
	require.ErrorContains(t, denial, ": price 2000001, at most 2000000 base units of ")
	for _, price := range []uint64{1_000_000, 2_000_000} {
		require.NoError(t, s.sign(s.offer(address, 1, price)))
		require.NoError(t, s.sign(s.accept(address, friend, s.wallet(), 1, price)))
	}
	s.denied(policy.RuleBand, s.accept(address, friend, s.wallet(), 1, 999_999))
	s.denied(policy.RuleBand, s.accept(address, friend, s.wallet(), 1, 2_000_001))
}

// A price outside the band is refused at any instruction index, and the whole message stays unsigned.
func TestAPriceOutsideOfTheBandIsFoundAmongOthers(t *testing.T) {
	s := newStage(t, banded(policy.Band{Lower: 1_000_000, Upper: 2_000_000}, policy.Band{}))
	require.NoError(t, s.sign(s.create(friend, 1, 3_000_000)))
	require.NoError(t, s.sign(s.create(friend, 2, 3_000_000)))
	first, second := s.negotiation(s.wallet(), friend, 1), s.negotiation(s.wallet(), friend, 2)
	within := s.offer(first, 0, 1_500_000)
	for _, hidden := range []solana.Instruction{
		s.offer(second, 0, 2_000_001), s.offer(first, 2, 999_999), s.accept(second, s.wallet(), friend, 1, 2_000_001),
	} {
		denial := s.denied(policy.RuleBand, unitLimit(20_000), unitPrice(1), within,
			s.createAssociated(s.wallet(), s.wallet(), mint), hidden, s.offer(second, 0, 1_500_000))
		require.Equal(t, 4, denial.Instruction)
	}
	require.NoError(t, s.sign(unitLimit(20_000), unitPrice(1), within, s.offer(second, 0, 1_500_000)))
	// Another party's offer in the same message is not the wallet's.
	require.NoError(t, s.sign(within, s.build(&protocol.SubmitOffer{Offerer: friend, Negotiation: second, Amount: 9})))
}

// A sealed price is checked when the wallet commits to it. The reveal is always signed, but not together with
// accepting a midpoint above the band.
func TestSealedPricesAreWithinTheBand(t *testing.T) {
	s := newStage(t, banded(policy.Band{}, policy.Band{Lower: 1_000_000, Upper: 2_000_000}))
	sealed, commit, _ := s.sealed(999_999)
	s.joinSealed()
	_, err := s.policy.SignMessage(sealing(sealed), s.message(commit))
	var denial *policy.Denial
	require.ErrorAs(t, err, &denial)
	require.Equal(t, policy.RuleBand, denial.Rule)

	sealed, commit, reveal := s.sealed(1_000_000)
	_, err = s.policy.SignMessage(sealing(sealed), s.message(commit))
	require.NoError(t, err)
	sold := s.negotiation(friend, s.wallet(), 1)
	s.denied(policy.RuleBand, reveal, s.acceptMidpoint(7, sold, 2_000_001))
	require.NoError(t, s.sign(reveal, s.acceptMidpoint(7, sold, 2_000_000)))
	require.NoError(t, s.sign(unitLimit(1_000), reveal))
}

func TestABandWithoutAPriceIsAnError(t *testing.T) {
	s := newStage(t)
	for text, band := range map[string]policy.Band{
		"buyerBand: upper must be positive":   {Lower: 1},
		"buyerBand: lower 3 is above upper 2": {Lower: 3, Upper: 2},
	} {
		banded(band, policy.Band{})(&s.config)
		_, err := policy.New(t.Context(), s.signer, s.config)
		require.ErrorContains(t, err, "haggle: policy: tokens."+mint.String()+"."+text)
	}
}
