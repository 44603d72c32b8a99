package protocol

import (
	"math/big"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestSharesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount, bps := rapid.Uint64().Draw(t, "amount"), rapid.Uint16Range(0, 10_000).Draw(t, "bps")
		exact := func(rounding int64) uint64 {
			product := new(big.Int).Mul(new(big.Int).SetUint64(amount), big.NewInt(int64(bps)))
			return product.Add(product, big.NewInt(rounding)).Div(product, big.NewInt(10_000)).Uint64()
		}
		assert.Equal(t, exact(0), ShareOf(amount, bps, 0))
		assert.Equal(t, exact(5_000), ShareOf(amount, bps, BpsDenominator/2))
	})
}

func TestPublishedCostScenario(t *testing.T) {
	negotiation := &Negotiation{EscrowAmount: 5_000_000, EffectiveEscrow: 5_000_000, DecayRateBps: 200, MinOfferBps: 1_000, ProtocolFeeBps: 50}
	for range 6 {
		negotiation.EffectiveEscrow = negotiation.EscrowAfterRound()
	}
	assert.EqualValues(t, 4_429_212, negotiation.EffectiveEscrow)
	assert.EqualValues(t, 570_788, negotiation.Decay())
	assert.EqualValues(t, 15_000, negotiation.FeeOn(3_000_000))
	least, most := negotiation.OfferRange()
	assert.EqualValues(t, 4_340_628, most)
	assert.EqualValues(t, 434_062, least)
}

// Each fee is rounded down, but the parts of a price cost as much as one payment.
func TestFeesOnPartsAddUp(t *testing.T) {
	negotiation := &Negotiation{ProtocolFeeBps: 50}
	for _, c := range []struct{ part, fee uint64 }{{199, 0}, {199, 1}, {2, 1}} {
		assert.Equal(t, c.fee, negotiation.FeeOnPart(c.part))
		negotiation.PaidGross += c.part
	}
	assert.EqualValues(t, 2, negotiation.FeeOn(negotiation.PaidGross))
}

func TestTurn(t *testing.T) {
	buyer, seller := solana.PublicKey{1}, solana.PublicKey{2}
	negotiation := &Negotiation{Buyer: buyer, Seller: seller, MaxRounds: 3, Status: NegotiationStatusProposed}
	assert.Equal(t, OfferSideBuyer, negotiation.Turn())
	assert.False(t, negotiation.HasOffer())

	negotiation.CurrentRound, negotiation.CurrentOfferBy, negotiation.OfferSide = 1, buyer, OfferSideBuyer
	assert.Equal(t, OfferSideSeller, negotiation.Turn())
	assert.True(t, negotiation.HasOffer())
	assert.Equal(t, seller, negotiation.Party(negotiation.Turn()))
	assert.EqualValues(t, 2, negotiation.RoundsLeft())

	negotiation.CurrentRound, negotiation.CurrentOfferBy, negotiation.OfferSide = 3, seller, OfferSideSeller
	assert.Equal(t, OfferSideBuyer, negotiation.Turn())
	assert.Zero(t, negotiation.RoundsLeft())

	side, ok := negotiation.SideOf(seller)
	assert.True(t, ok)
	assert.Equal(t, OfferSideSeller, side)
	_, ok = negotiation.SideOf(solana.PublicKey{3})
	assert.False(t, ok)
}

func TestClaimableOf(t *testing.T) {
	negotiation := &Negotiation{Buyer: solana.PublicKey{1}, Seller: solana.PublicKey{2}, ClaimableBuyer: 5, ClaimableSeller: 7}
	assert.EqualValues(t, 5, negotiation.ClaimableOf(solana.PublicKey{1}))
	assert.EqualValues(t, 7, negotiation.ClaimableOf(solana.PublicKey{2}))
	assert.Zero(t, negotiation.ClaimableOf(solana.PublicKey{3}))
}

func TestEachStatusIsOpenAgreedOrOver(t *testing.T) {
	for status := NegotiationStatusCreated; status.Valid(); status++ {
		negotiation := &Negotiation{Status: status}
		agreed := status == NegotiationStatusAccepted
		assert.Equal(t, !agreed, negotiation.IsOpen() != negotiation.IsOver(), status)
		assert.Equal(t, negotiation.IsBargaining(), negotiation.IsOpen() && status != NegotiationStatusCreated, status)
	}
}

func TestOverdueFromTheDeadlineOn(t *testing.T) {
	negotiation := &Negotiation{TurnDeadline: 100}
	assert.False(t, negotiation.IsOverdue(99))
	assert.True(t, negotiation.IsOverdue(100))
}

func TestRatesAbove10000DoNotOverflow(t *testing.T) {
	n := &Negotiation{EscrowAmount: 1, EffectiveEscrow: 5_000_000, DecayRateBps: 20_000}
	assert.Zero(t, n.EscrowAfterRound())
	n.DecayRateBps = 65_535
	n.EffectiveEscrow = ^uint64(0)
	assert.Zero(t, n.EscrowAfterRound())
	assert.Zero(t, n.Decay())
}
