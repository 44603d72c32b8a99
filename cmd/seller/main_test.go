package main

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/agent"
	"github.com/haggle-protocol/haggle/sdk"
)

func TestObjections(t *testing.T) {
	s := &seller{Party: &agent.Party{Mint: solana.PublicKey{1}, ServiceHash: [32]byte{2}, Reservation: 3_000_000}, maxDecayBps: 300}
	for why, spoil := range map[string]func(n *haggle.NegotiationAccount){
		"":                func(*haggle.NegotiationAccount) {},
		"another service": func(n *haggle.NegotiationAccount) { n.ServiceHash[0]++ },
		"another mint":    func(n *haggle.NegotiationAccount) { n.TokenMint[0]++ },
		"does not cover":  func(n *haggle.NegotiationAccount) { n.EscrowAmount = 3_000_000 },
		"loses 1000":      func(n *haggle.NegotiationAccount) { n.DecayRateBps = 1_000 },
		"sealed prices":   func(n *haggle.NegotiationAccount) { n.ZopaEnabled = true },
		"a bond":          func(n *haggle.NegotiationAccount) { n.BondRequired = 1 },
		"an arbiter":      func(n *haggle.NegotiationAccount) { n.Arbiter[0]++ },
		"milestones":      func(n *haggle.NegotiationAccount) { n.MilestoneCount = 1 },
		"terms beside":    func(n *haggle.NegotiationAccount) { n.Metadata = haggle.Terms{QualityTier: 1}.Metadata() },
	} {
		n := &haggle.NegotiationAccount{}
		n.TokenMint, n.ServiceHash, n.EscrowAmount, n.ProtocolFeeBps, n.DecayRateBps = s.Mint, s.ServiceHash, 5_000_000, 50, 150
		spoil(n)
		found := s.objection(n)
		require.Contains(t, found, why)
		require.Equal(t, why == "", found == "")
		if why != "" {
			_, err := s.step(t.Context(), n, 0)
			require.ErrorIs(t, err, agent.ErrReplaced, "nothing is signed")
		}
	}
}

func TestTheReservationIsWhatIsLeftAfterTheFee(t *testing.T) {
	n := &haggle.NegotiationAccount{}
	for _, bps := range []uint16{0, 1, 50, 500} {
		n.ProtocolFeeBps = bps
		for _, net := range []uint64{1, 999, 3_000_000, 1 << 60} {
			price := gross(n, net)
			require.Equal(t, net, price-n.FeeOn(price))
			require.Less(t, price-1-n.FeeOn(price-1), net)
		}
	}
}
