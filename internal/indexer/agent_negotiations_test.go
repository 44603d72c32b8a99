package indexer

import (
	"testing"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// submitOffer returns the instruction for the scenario's offer; the first offer's round is 0. The metadata
// begin with 7 and the round.
func (s *scriptedScenario) submitOffer(t *testing.T, round uint8) scriptedTransaction {
	t.Helper()
	offerer := s.buyer
	if round == 1 {
		offerer = s.seller
	}
	instruction, err := (&protocol.SubmitOffer{
		Offerer: offerer, Negotiation: s.address, CreatedAt: 1_700_000_000 + int64(s.number), ExpectedRound: round,
		Metadata: [64]byte{7, round},
	}).Instruction()
	require.NoError(t, err)
	step := s.steps()[2+round]
	return newTransaction(t, 10*s.number+uint64(2+round), instruction, logsOf(step.events...))
}

// An agent's negotiations include offer metadata, which only the instructions contain.
func TestAgentNegotiationsHaveTheMetadataOfOffers(t *testing.T) {
	chain := newScriptedChain()
	agent := numberedKey('S', 3)
	for number := range uint64(3) {
		s := newScriptedScenario(number, 1)
		switch number {
		case 0:
			s.seller = agent
		case 1:
			s.buyer = agent
		}
		for i, step := range s.steps() {
			item := newTransaction(t, 10*number+uint64(i), nil, logsOf(step.events...))
			if i == 2 || i == 3 && number == 0 {
				item = s.submitOffer(t, uint8(i-2))
			}
			chain.add(300+10*number+uint64(i), 1, item)
		}
	}
	for name, database := range bothDatabases(t) {
		t.Run(name, func(t *testing.T) {
			runOnce(t, t.Context(), database, chain.client(), rpc.CommitmentConfirmed)
			found, err := database.AgentNegotiations(t.Context(), agent.String())
			require.NoError(t, err)
			require.Len(t, found, 2)
			for i, n := range found {
				require.Equal(t, numberedKey('N', uint64(i)).String(), n.Address)
				require.Equal(t, i == 1, n.IsBuyer)
				require.Equal(t, "Settled", n.Status)
				require.True(t, n.Complete)
				require.Len(t, n.Events, 7)
				require.Equal(t, &[64]byte{7, 0}, n.Events[2].Metadata)
			}
			require.Equal(t, &[64]byte{7, 1}, found[0].Events[3].Metadata)
			require.Nil(t, found[1].Events[3].Metadata, "the instruction is unknown")
			require.Equal(t, 3, single[int](t, t.Context(), database,
				`SELECT COUNT(*) FROM offers WHERE metadata LIKE '0700%' AND length(metadata) = 128`))
			none, err := database.AgentNegotiations(t.Context(), numberedKey('S', 9).String())
			require.NoError(t, err)
			require.Empty(t, none)
		})
	}
}
