package indexer

import (
	"testing"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/identity"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Negotiations returns every negotiation with all events, and its own parties' declarations.
func TestNegotiationsHaveTheirEventsAndDeclarations(t *testing.T) {
	key := newKey(t)
	chain := newScriptedChain()
	for number := range uint64(3) {
		s := newScriptedScenario(number, 1)
		if number > 0 {
			s.seller = key.PublicKey()
		}
		for i, step := range s.steps() {
			at := 300 + 10*number + uint64(i)
			chain.add(at, 1, newTransaction(t, at, nil, logsOf(step.events...)))
		}
	}
	for name, database := range bothDatabases(t) {
		t.Run(name, func(t *testing.T) {
			runOnce(t, t.Context(), database, chain.client(), rpc.CommitmentConfirmed)
			_, err := database.declare(t.Context(), []identity.Declaration{
				declaredBy(t, key, "early", 1_700_000_001), declaredBy(t, key, "later", 1_700_000_002),
			}, time.Unix(1_700_000_002, 0))
			require.NoError(t, err)
			found := map[uint64]*RecordedNegotiation{}
			require.NoError(t, database.Negotiations(t.Context(), func(n *RecordedNegotiation) error {
				found[n.Events[0].(*protocol.NegotiationCreated).SessionID] = n
				return nil
			}))
			require.Len(t, found, 3)
			for session, want := range map[uint64]*DeclaredParty{
				0: nil,
				1: {Strategy: "early", Model: "a/model-1", PromptHash: identity.PromptHash([]byte("early")), Late: true},
				2: {Strategy: "later", Model: "a/model-1", PromptHash: identity.PromptHash([]byte("later"))},
			} {
				require.Len(t, found[session].Events, 7)
				require.True(t, found[session].Complete)
				require.Nil(t, found[session].Buyer)
				require.Equal(t, want, found[session].Seller)
			}
		})
	}
}
