package proving

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/agent/issues"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// newSeveral returns a prover that writes to a directory, and the strategy's player over several issues,
// which stores memory in the same directory.
func newSeveral(t *testing.T, folder string, side proof.Side) (*Prover, *issues.Player) {
	several := &proof.Issues{
		Domain:  "issues:\n- {name: price, type: ContiguousIssue, values: [1, 5]}\n",
		Profile: "type: LinearAdditiveUtilityFunction\nvalues:\n- {type: AffineFun, slope: -0.2, bias: 1.2}\n",
		Price:   "price", Unit: 1,
	}
	preferences, err := several.Preferences()
	require.NoError(t, err)
	prover := &Prover{
		Folder: folder, Side: side, Strategy: proof.Strategy{Name: "negmas-linear", Issues: several},
	}
	memory := issues.Folder{Path: folder, Private: true}
	return prover, &issues.Player{
		Strategy: strategy.NegmasLinear(), Preferences: preferences, Commit: prover.Commit, Memory: memory,
		Documents: issues.Folder{Path: t.TempDir()},
	}
}

// newNegotiation returns a negotiation where it is the buyer's turn.
func newNegotiation() *haggle.Snapshot {
	n := &haggle.Snapshot{}
	n.Status, n.EscrowAmount, n.EffectiveEscrow = protocol.NegotiationStatusProposed, 10, 10
	n.MaxRounds, n.GlobalDeadline, n.TurnDeadline, n.CreatedAt = 6, 3_600, 3_600, 7
	n.Buyer[0], n.Seller[0] = 1, 2
	return n
}

// TestTheMemoryKeepsTheNonce has a memory in the folder of the proofs.
func TestTheMemoryKeepsTheNonce(t *testing.T) {
	prover, player := newSeveral(t, t.TempDir(), proof.Buyer)
	n := newNegotiation()
	first, err := prover.Commit(n)
	require.NoError(t, err)
	_, err = player.Decide(t.Context(), agent.Turn{Negotiation: n, Side: protocol.OfferSideBuyer})
	require.NoError(t, err)
	again, err := prover.Commit(n)
	require.NoError(t, err)
	require.Equal(t, first, again)
	files, err := filepath.Glob(filepath.Join(prover.Folder, "outcomes-*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
}

// TestBothSidesHaveOneFolder checks that the agents on both sides can use the same directory for everything.
func TestBothSidesHaveOneFolder(t *testing.T) {
	n, folder := newNegotiation(), t.TempDir()
	commitments := map[[32]byte]bool{}
	for range 2 {
		for _, side := range []proof.Side{proof.Buyer, proof.Seller} {
			prover, _ := newSeveral(t, folder, side)
			commitment, err := prover.Commit(n)
			require.NoError(t, err)
			commitments[commitment] = true
			require.Equal(t, n.Address.String()+"-7-"+string(side)+".json",
				filepath.Base(prover.Path(n.Address, n.CreatedAt)))
		}
	}
	require.Len(t, commitments, 2)
}
