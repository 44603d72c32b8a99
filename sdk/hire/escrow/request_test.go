package escrow_test

import (
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/internal/sessionid"
)

func TestRequestHasTheTerms(t *testing.T) {
	_, terms := termsOf(t)
	assert.Equal(t, haggle.CreateRequest{
		Buyer: terms.Seeker, Seller: terms.Worker, Mint: terms.Mint, Decimals: 6, EscrowAmount: 5_000_000,
		ServiceHash: terms.Service, Key: sessionid.KeyOf(terms.Session), MaxRounds: 1, DecayRateBps: new(uint16(0)),
		ResponseWindow: 5 * time.Minute, Deadline: 30 * time.Minute, MaxFeeBps: new(uint16(50)),
		Milestones: &haggle.Milestones{Arbiter: arbiter, Shares: []uint16{10_000}, ReviewHours: 24,
			Delivery: 24*time.Hour + time.Minute},
	}, terms.Request(start))
}

func TestRequestLeavesTimeForTheBargaining(t *testing.T) {
	_, terms := termsOf(t)
	for _, late := range []time.Duration{terms.Deadline.Sub(start) - time.Minute, 48 * time.Hour} {
		assert.Equal(t, 31*time.Minute, terms.Request(start.Add(late)).Milestones.Delivery)
	}
}

func TestPriceInSOLIsWrapped(t *testing.T) {
	_, terms := termsOf(t)
	terms.Mint = solana.WrappedSol
	assert.Equal(t, haggle.Deposit{WrapSOL: true}, terms.Request(start).Deposit)
}
