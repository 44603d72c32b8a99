package agent_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// TestAModelsOffersCarryItsCommitment uses a decision function that plays no strategy.
func TestAModelsOffersCarryItsCommitment(t *testing.T) {
	reveal := proof.Reveal{
		Model: &proof.Model{Name: "model-1", Prompt: sha256.Sum256([]byte("Buy cheaply."))}, Nonce: proof.Hash{1},
	}
	var failure error
	commits := 0
	commit := func(n *haggle.Snapshot) ([32]byte, error) {
		commits++
		terms := proof.Terms{Negotiation: proof.Address(n.Address), CreatedAt: n.CreatedAt}
		commitment, err := proof.Commit(terms, proof.Buyer, reveal)
		return commitment, errors.Join(err, failure)
	}
	var decision agent.Decision
	decide := agent.WithCommitment(
		func(context.Context, agent.Turn) (agent.Decision, error) { return decision, nil }, commit)
	turn := agent.Turn{Negotiation: &haggle.Snapshot{}}
	want, err := commit(turn.Negotiation)
	require.NoError(t, err)

	given := &protocol.Terms{QualityTier: 2}
	decision = agent.Offer{Amount: 7, Terms: given}
	made, err := decide(t.Context(), turn)
	require.NoError(t, err)
	require.Equal(t, agent.Offer{Amount: 7, Terms: &protocol.Terms{QualityTier: 2, StrategyHash: want}}, made)
	require.Zero(t, given.StrategyHash, "the caller's terms stay")

	commits, decision = 0, agent.Accept{}
	made, err = decide(t.Context(), turn)
	require.NoError(t, err)
	require.Equal(t, agent.Accept{}, made)
	require.Equal(t, 1, commits, "a move without an offer is committed to as well")

	decision = agent.Offer{Amount: 7, Document: new(protocol.TermsDocument)}
	_, err = decide(t.Context(), turn)
	require.ErrorContains(t, err, "cannot carry a commitment")

	failure, decision = errors.New("disk full"), agent.Accept{}
	_, err = decide(t.Context(), turn)
	require.ErrorContains(t, err, "agent: commit to the strategy: disk full")
}
