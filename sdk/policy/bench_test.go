package policy_test

import (
	"context"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
)

// BenchmarkSignMessage measures the policy and signing together: for an offer, and for create_negotiation,
// which derives two addresses.
func BenchmarkSignMessage(b *testing.B) {
	unlimited := policy.Limits{
		PerTransaction: policy.Unlimited, PerNegotiation: policy.Unlimited, PerCounterparty: policy.Unlimited, PerDay: policy.Unlimited,
	}
	s := newStage(new(testing.T), func(c *policy.Config) {
		c.Lamports, c.Tokens = unlimited, map[solana.PublicKey]policy.TokenLimits{mint: {Limits: unlimited, MaxTotal: policy.Unlimited}}
	})
	require.NoError(b, s.sign(s.create(friend, 1, 1)))
	address := s.negotiation(s.wallet(), friend, 1)
	for _, c := range []struct {
		name         string
		instructions []solana.Instruction
	}{
		{"offer", []solana.Instruction{unitLimit(20_000), unitPrice(1_000), s.offer(address, 0, 1)}},
		{"creation", []solana.Instruction{unitLimit(20_000), unitPrice(1_000), s.create(friend, 2, 1)}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				message := s.message(c.instructions...)
				b.StartTimer()
				if _, err := s.policy.SignMessage(context.Background(), message); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
