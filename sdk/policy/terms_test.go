package policy_test

import (
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Terms worse than the defaults must be named, from either side.
func TestTermsAreLimited(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*protocol.NegotiationParams)
		allowed policy.TermLimits
		want    string
	}{
		"decay": {
			func(p *protocol.NegotiationParams) { p.DecayRateBps = 201 },
			policy.TermLimits{MaxDecayRateBps: new(uint16(201))}, "decay of 201 basis points per round, at most 200",
		},
		"rounds": {
			func(p *protocol.NegotiationParams) { p.MaxRounds = 11 },
			policy.TermLimits{MaxRounds: 11}, "up to 11 rounds, at most 10",
		},
		"window": {
			func(p *protocol.NegotiationParams) { p.ResponseWindow = 299 },
			policy.TermLimits{MinResponseWindow: 299 * time.Second}, "response window of 299 seconds, at least 300",
		},
		"fee": {
			func(p *protocol.NegotiationParams) { p.MaxFeeBps = 51 },
			policy.TermLimits{MaxFeeBps: new(uint16(51))}, "protocol fee of up to 51 basis points, at most 50",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			creation := s.creation(friend, 1, 1_000_000)
			p := &creation.Params
			p.DecayRateBps, p.MaxRounds, p.ResponseWindow, p.MaxFeeBps = 200, 10, 300, 50
			address, invited := s.invitation(2, 0)
			accept := func() solana.Instruction {
				invited.DecayRateBps, invited.MaxRounds = p.DecayRateBps, p.MaxRounds
				invited.ResponseWindow, invited.ProtocolFeeBps = p.ResponseWindow, p.MaxFeeBps
				s.config.Negotiations = chain{address: invited.Encode()}
				s.restart()
				return s.join(address, invited)
			}
			require.NoError(t, s.sign(s.build(creation)))
			require.NoError(t, s.sign(accept()))

			c.change(p)
			denial := s.denied(policy.RuleTerms, s.build(creation))
			require.EqualError(t, denial, "haggle: policy denied: terms: "+s.negotiation(s.wallet(), friend, 1).String()+": "+
				c.want+" (instruction 0, haggle.create_negotiation)")
			denial = s.denied(policy.RuleTerms, accept())
			require.EqualError(t, denial, "haggle: policy denied: terms: "+address.String()+": "+
				c.want+" (instruction 0, haggle.accept_invitation)")

			s.config.Terms = c.allowed
			s.restart()
			require.NoError(t, s.sign(s.build(creation)))
			require.NoError(t, s.sign(accept()))
		})
	}
}

// A limit of zero that is named is not the default.
func TestNamedZeroAllowsNoDecayAndNoFee(t *testing.T) {
	s := newStage(t, func(c *policy.Config) {
		c.Terms = policy.TermLimits{MaxDecayRateBps: new(uint16), MaxFeeBps: new(uint16)}
	})
	creation := s.creation(friend, 1, 1_000_000)
	require.NoError(t, s.sign(s.build(creation)))
	creation.Params.DecayRateBps = 1
	s.denied(policy.RuleTerms, s.build(creation))
	creation.Params.DecayRateBps, creation.Params.MaxFeeBps = 0, 1
	s.denied(policy.RuleTerms, s.build(creation))
}
