package haggle_test

import (
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// A key used again is compared with the terms of its negotiation, while that has an account and after it is closed.
func TestRepetitionOnOtherTermsIsRefused(t *testing.T) {
	r := newRotation(t)
	same := haggle.CreateRequest{
		Buyer: r.Buyer.PublicKey(), Seller: r.Seller.PublicKey(), Mint: r.Mint, Decimals: localnet.Decimals,
		Key: "order 1", EscrowAmount: 5_000_000, MaxRounds: 8, Deadline: time.Hour, // the deadline can be another one
	}
	others := map[string]func(*haggle.CreateRequest){
		"escrow":  func(c *haggle.CreateRequest) { c.EscrowAmount++ },
		"service": func(c *haggle.CreateRequest) { c.ServiceHash[0]++ },
		"rounds":  func(c *haggle.CreateRequest) { c.MaxRounds = 9 },
		"decay":   func(c *haggle.CreateRequest) { c.DecayRateBps = new(uint16(0)) },
		"bond":    func(c *haggle.CreateRequest) { c.Bond = 1 },
		"key":     func(c *haggle.CreateRequest) { c.Key = "order 2" },
		"seller":  func(c *haggle.CreateRequest) { c.Seller = solana.PublicKey{9} },
		"milestones": func(c *haggle.CreateRequest) {
			c.Milestones = &haggle.Milestones{Arbiter: solana.PublicKey{5}, Shares: []uint16{10_000}}
		},
	}
	check := func() {
		require.NoError(t, r.Client.CheckRepetition(r.ctx, same, r.negotiation))
		for name, change := range others {
			other := same
			change(&other)
			err := r.Client.CheckRepetition(r.ctx, other, r.negotiation)
			require.ErrorIs(t, err, haggle.ErrNotAsExpected, name)
			require.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))
		}
	}
	check()
	r.do(r.Buyer, r.Client.Negotiation(r.negotiation).Close(r.Buyer.PublicKey()))
	_, err := r.Client.Negotiation(r.negotiation).Snapshot(r.ctx)
	require.ErrorIs(t, err, protocol.ErrAccountNotFound)
	others["metadata"] = func(c *haggle.CreateRequest) { c.Metadata[0]++ }
	check()
	require.ErrorIs(t, r.Client.CheckRepetition(r.ctx, same, solana.PublicKey{7}), protocol.ErrAccountNotFound)
}
