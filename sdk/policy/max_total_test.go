package policy_test

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// A deposit of 3,000,000 loses 118,800 in two offers at 2 % of decay, and 176,424 in three. A buyer's price
// and decay stay within MaxTotal, wherever the terms of the negotiation come from.
func TestPriceAndDecayAreWithinMaxTotal(t *testing.T) {
	const maxTotal, decayAfterTwo, decayAfterThree = 2_000_000, 118_800, 176_424
	limited := func(c *policy.Config) {
		limits := c.Tokens[mint]
		limits.MaxTotal = maxTotal
		c.Tokens[mint] = limits
	}
	created := func(s *stage) solana.PublicKey {
		creation := s.creation(friend, 1, 3_000_000)
		creation.Params.DecayRateBps = 200
		require.NoError(t, s.sign(s.build(creation)))
		return s.negotiation(s.wallet(), friend, 1)
	}
	for name, negotiation := range map[string]func(s *stage) solana.PublicKey{
		"created through the policy": created,
		"recreated with less decay": func(s *stage) solana.PublicKey {
			address := created(s)
			require.NoError(t, s.sign(s.create(friend, 1, 3_000_000)))
			return address
		},
		"created elsewhere": func(s *stage) solana.PublicKey {
			n := &protocol.Negotiation{
				Buyer: s.wallet(), Seller: friend, SessionID: 1, TokenMint: mint, Version: protocol.NegotiationVersion,
				EscrowAmount: 3_000_000, EffectiveEscrow: 3_000_000, DecayRateBps: 200, CurrentRound: 2,
				CurrentOfferAmount: maxTotal - decayAfterTwo,
			}
			address := s.negotiation(s.wallet(), friend, 1)
			s.config.Negotiations = chain{address: n.Encode()}
			s.restart()
			return address
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, limited)
			address := negotiation(s)
			denial := s.denied(policy.RuleMaxTotal, s.offer(address, 2, maxTotal-decayAfterThree+1))
			require.Equal(t, []uint64{maxTotal - decayAfterThree + 1, decayAfterThree, maxTotal},
				[]uint64{denial.Requested, denial.Used, denial.Limit})
			require.ErrorContains(t, denial, "highest total: "+address.String()+
				": price 1823577 and decay 176424: 2000001 in all, limit 2000000 base units of "+mint.String())
			require.NoError(t, s.sign(s.offer(address, 2, maxTotal-decayAfterThree)))
			// An acceptance adds no offer.
			require.NoError(t, s.sign(s.accept(address, s.wallet(), friend, 2, maxTotal-decayAfterTwo)))
		})
	}
	t.Run("acceptance", func(t *testing.T) {
		s := newStage(t, limited)
		s.denied(policy.RuleMaxTotal, s.accept(created(s), s.wallet(), friend, 2, maxTotal-decayAfterTwo+1))
	})
}
