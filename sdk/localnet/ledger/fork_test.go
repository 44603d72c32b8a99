package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

func TestForkUndoesTransactions(t *testing.T) {
	chain := start(t)
	to := newKey(t).PublicKey()
	chain.blocks(3)
	kept := chain.send(to, sol)
	hash := chain.latest()
	chain.blocks(1)
	wire := chain.sign(hash, chain.gift(to, 2*sol))
	_, err := chain.Send(wire)
	require.NoError(t, err)
	before := chain.lamports(chain.payer.PublicKey(), ledger.Processed)
	chain.blocks(1)
	forked := chain.latest()
	open := chain.send(to, 4*sol)
	require.EqualValues(t, 7*sol, chain.lamports(to, ledger.Processed))
	slot, count := chain.Slot(ledger.Processed), chain.TransactionCount()

	require.NoError(t, chain.Fork(1))
	require.EqualValues(t, 3*sol, chain.lamports(to, ledger.Processed))
	require.Equal(t, before, chain.lamports(chain.payer.PublicKey(), ledger.Processed))
	_, known := chain.Status(open.Signature)
	require.False(t, known)
	require.Equal(t, slot, chain.Slot(ledger.Processed))
	require.Equal(t, count-1, chain.TransactionCount())
	require.Equal(t, forked, chain.latest(), "closed blocks stay")

	require.NoError(t, chain.Fork(2))
	require.EqualValues(t, sol, chain.lamports(to, ledger.Confirmed))
	require.Len(t, chain.History(to, ledger.Processed, ledger.Page{}), 1)
	require.NotEqual(t, forked, chain.latest(), "the block with the same slot is another one")
	_, err = chain.Send(chain.sign(forked, chain.gift(to, 1)))
	requireRefused(t, err, "BlockhashNotFound")
	_, err = chain.Send(wire)
	require.NoError(t, err, "it is not executed any more")
	require.EqualValues(t, 3*sol, chain.lamports(to, ledger.Processed))
	_, known = chain.Status(kept.Signature)
	require.True(t, known)
	chain.blocks(1)
	require.EqualValues(t, 3*sol, chain.lamports(to, ledger.Confirmed))

	require.ErrorContains(t, chain.Fork(33), "not between 1 and 32")
	require.ErrorContains(t, chain.Fork(0), "not between 1 and 32")
	require.ErrorContains(t, start(t).Fork(2), "has only 2 blocks")
}

func TestNodeBehindShowsThePast(t *testing.T) {
	chain := start(t)
	behind, err := chain.Behind(2)
	require.NoError(t, err)
	node := &ledgerView{chain, behind}
	to := newKey(t).PublicKey()
	chain.blocks(5)
	sent := chain.send(to, sol)
	for _, want := range []struct {
		lamports map[ledger.Commitment]uint64
		known    bool
	}{
		{map[ledger.Commitment]uint64{}, false},
		{map[ledger.Commitment]uint64{}, false},
		{map[ledger.Commitment]uint64{ledger.Processed: sol}, true},
		{map[ledger.Commitment]uint64{ledger.Processed: sol, ledger.Confirmed: sol}, true},
	} {
		require.Equal(t, chain.Slot(ledger.Processed)-2, behind.Slot(ledger.Processed))
		for _, level := range []ledger.Commitment{ledger.Processed, ledger.Confirmed, ledger.Finalized} {
			require.Equal(t, want.lamports[level], node.lamports(to, level), level)
		}
		_, known := behind.Status(sent.Signature)
		require.Equal(t, want.known, known)
		require.NotEqual(t, chain.latest(), behind.LatestBlockhash(ledger.Confirmed).Hash)
		_, shown := behind.Block(chain.Slot(ledger.Confirmed), ledger.Confirmed)
		require.False(t, shown)
		chain.blocks(1)
	}
	_, err = chain.Behind(ledger.MaxBehind + 1)
	require.ErrorContains(t, err, "exceed 128")
	far, err := chain.Behind(ledger.MaxBehind)
	require.NoError(t, err)
	chain.blocks(ledger.MaxBehind + 25)
	node.Ledger = far
	require.EqualValues(t, sol, node.lamports(to, ledger.Processed))
	require.Zero(t, node.lamports(to, ledger.Finalized), "earlier states are kept for nodes that are far behind")
}

// ledgerView reads through another node.
type ledgerView struct {
	*chain
	Ledger *ledger.Ledger
}

func (v *ledgerView) lamports(address [32]byte, commitment ledger.Commitment) uint64 {
	account := v.Ledger.Account(address, commitment)
	if account == nil {
		return 0
	}
	return account.Lamports
}
