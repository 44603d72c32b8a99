package proving

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// committed returns a seller that is committed in a negotiation.
func committed(t *testing.T, createdAt int64) (*Prover, string) {
	t.Helper()
	p := &Prover{Folder: t.TempDir(), Side: proof.Seller, Model: &proof.Model{Name: "model"}}
	_, err := p.Commit(snapshot(createdAt))
	require.NoError(t, err)
	return p, p.Path(negotiation, createdAt)
}

func snapshot(createdAt int64) *haggle.Snapshot {
	n := &haggle.Snapshot{Address: negotiation}
	n.CreatedAt, n.Buyer, n.Seller, n.EscrowAmount, n.MaxRounds = createdAt, buyer, seller, 100_000, 6
	n.MinOfferBps = 1_000
	return n
}

// rejected executes a negotiation that the seller rejects in response to an offer.
func (n *scriptedNode) rejected() {
	n.t.Helper()
	n.execute(create(n.t), false, creation())
	n.execute(offerOf(n.t, buyer, 0, 50_000), false, offered(buyer, 0, 50_000))
	n.execute(create(n.t), false, &protocol.NegotiationRejected{NegotiationID: negotiation, RejectedBy: seller})
}

// hide omits the newest transactions from lists.
func (n *scriptedNode) hide(newest int) {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.unlisted = newest
}

func TestFinishWaitsForTheEnd(t *testing.T) {
	node := &scriptedNode{t: t}
	client := node.client()
	node.rejected()
	p, path := committed(t, 7)
	unfinished, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, unlisted := range []int{1, 3} {
		node.hide(unlisted)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		paths, err := p.Finish(ctx, client, negotiation)
		cancel()
		require.ErrorIs(t, err, ErrNoEnd)
		require.Empty(t, paths)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(unfinished), string(text))
	}
	node.lock.Lock()
	node.listed = func() { node.unlisted = max(node.unlisted-1, 0) }
	node.lock.Unlock()
	paths, err := p.Finish(t.Context(), client, negotiation)
	require.NoError(t, err)
	require.Equal(t, []string{path}, paths)
	finished, err := readProof(path)
	require.NoError(t, err)
	require.Len(t, finished.Offers, 1)
	require.Equal(t, &proof.Last{By: proof.Seller, Move: "reject"}, finished.Last)
	paths, err = p.Finish(t.Context(), client, negotiation)
	require.NoError(t, err)
	require.Empty(t, paths, "it is finished")
}

func TestFinishTakesTheNegotiationOfTheFile(t *testing.T) {
	node := &scriptedNode{t: t}
	client := node.client()
	node.rejected()
	second := creation()
	second.Timestamp = 9
	node.execute(create(t), false, second)
	p, path := committed(t, 7)
	paths, err := p.Finish(t.Context(), client, negotiation)
	require.NoError(t, err)
	require.Equal(t, []string{path}, paths)

	// The second one runs, and the agent is committed there, too.
	_, err = p.Commit(snapshot(9))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = p.Finish(ctx, client, negotiation)
	require.ErrorIs(t, err, ErrNoEnd)
}
