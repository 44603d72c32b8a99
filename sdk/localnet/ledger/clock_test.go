package ledger_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// clock returns the slot and the time of the clock that programs read.
func (c *chain) clock(commitment ledger.Commitment) (slot, unixTime uint64) {
	data := c.Account(solana.SysVarClockPubkey, commitment).Data
	return binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[32:])
}

func TestClock(t *testing.T) {
	chain := start(t)
	slot, unixTime := chain.clock(ledger.Processed)
	require.Equal(t, chain.Slot(ledger.Processed), slot)
	require.EqualValues(t, genesisTime, unixTime)

	require.NoError(t, chain.AdvanceTo(genesisTime+3600))
	require.NoError(t, chain.AdvanceBy(time.Minute))
	_, unixTime = chain.clock(ledger.Processed)
	require.EqualValues(t, genesisTime+3660, unixTime)
	_, unixTime = chain.clock(ledger.Confirmed)
	require.EqualValues(t, genesisTime+3600, unixTime, "the block before")
	chain.blocks(3)
	require.EqualValues(t, genesisTime+3660, chain.Time(), "the clock goes on from there")

	require.Error(t, chain.AdvanceTo(genesisTime), "backwards")
	require.Error(t, chain.AdvanceTo(1<<62))
}

func TestSnapshot(t *testing.T) {
	chain := start(t)
	to := newKey(t).PublicKey()
	kept := chain.send(to, sol)
	slot := chain.Slot(ledger.Processed)
	snapshot, err := chain.Snapshot()
	require.NoError(t, err)
	for range 3 {
		dropped := chain.send(to, 2*sol)
		chain.blocks(5)
		require.NoError(t, chain.AdvanceBy(time.Hour))
		require.NoError(t, chain.Restore(t.Context(), snapshot))
		require.EqualValues(t, sol, chain.lamports(to, ledger.Processed))
		require.Zero(t, chain.lamports(to, ledger.Confirmed))
		require.Equal(t, slot, chain.Slot(ledger.Processed))
		require.EqualValues(t, genesisTime, chain.Time())
		_, known := chain.Status(dropped.Signature)
		require.False(t, known)
		_, known = chain.Status(kept.Signature)
		require.True(t, known)
		require.Len(t, chain.History(to, ledger.Processed, ledger.Page{}), 1)
	}
	require.NoError(t, chain.Close())
	require.ErrorIs(t, chain.Restore(t.Context(), snapshot), engine.ErrClosed)
}

func TestHistoryIsPaged(t *testing.T) {
	chain := start(t)
	to := newKey(t).PublicKey()
	var sent []*ledger.Transaction
	for amount := range uint64(5) {
		sent = append(sent, chain.send(to, sol+amount))
		if amount%2 == 1 {
			chain.blocks(1)
		}
	}
	signatures := func(page ledger.Page) (found []int) {
		for _, status := range chain.History(to, ledger.Processed, page) {
			for i := range sent {
				if sent[i].Signature == status.Signature {
					found = append(found, i)
				}
			}
		}
		return found
	}
	require.Equal(t, []int{4, 3, 2, 1, 0}, signatures(ledger.Page{}))
	require.Equal(t, []int{4, 3}, signatures(ledger.Page{Limit: 2}))
	require.Equal(t, []int{2, 1, 0}, signatures(ledger.Page{Before: sent[3].Signature}))
	require.Equal(t, []int{4, 3}, signatures(ledger.Page{Until: sent[2].Signature}))
	require.Empty(t, signatures(ledger.Page{Before: solana.Signature{1}}), "unknown")
}

func TestOldBlocksAreForgotten(t *testing.T) {
	chain := startWith(t, ledger.Options{History: 512})
	to := newKey(t).PublicKey()
	sent := chain.send(to, sol)
	later := func() *ledger.Transaction { chain.blocks(400); return chain.send(to, sol) }()
	chain.blocks(200)
	_, known := chain.Status(sent.Signature)
	require.False(t, known)
	history := chain.History(to, ledger.Confirmed, ledger.Page{})
	require.Len(t, history, 1)
	require.Equal(t, later.Signature, history[0].Signature)
	require.Greater(t, chain.FirstSlot(), sent.Slot)
	require.EqualValues(t, 2*sol, chain.lamports(to, ledger.Finalized), "accounts stay")
}

func TestAirdrop(t *testing.T) {
	chain := start(t)
	to := newKey(t).PublicKey()
	for range 2 {
		_, err := chain.Airdrop(to, sol)
		require.NoError(t, err, "equal airdrops are different transactions")
	}
	require.EqualValues(t, 2*sol, chain.lamports(to, ledger.Processed))
	_, err := chain.Airdrop(to, ledger.FaucetLamports)
	require.ErrorContains(t, err, "InstructionError")
}

func TestDurableNonce(t *testing.T) {
	chain := start(t)
	payer := chain.payer.PublicKey()
	value := solana.Hash{7}
	data := make([]byte, 80)
	binary.LittleEndian.PutUint32(data, 1)
	binary.LittleEndian.PutUint32(data[4:], 1)
	copy(data[8:], payer[:])
	copy(data[40:], value[:])
	binary.LittleEndian.PutUint64(data[72:], 5000)
	nonce := newKey(t).PublicKey()
	require.NoError(t, chain.SetAccount(nonce, engine.Account{
		Lamports: engine.MinimumBalance(len(data)), Owner: solana.SystemProgramID, Data: data,
	}))
	advance := system.NewAdvanceNonceAccountInstruction(nonce, solana.SysVarRecentBlockHashesPubkey, payer).Build()
	stored := func() solana.Hash { return solana.HashFromBytes(chain.Account(nonce, ledger.Processed).Data[40:72]) }
	to := newKey(t).PublicKey()
	chain.blocks(2 * ledger.MaxBlockhashAge)
	for _, lamports := range []uint64{sol, 100 * sol} { // succeeds, fails
		before := stored()
		wire := chain.sign(before, advance, chain.gift(to, lamports))
		_, err := chain.Send(wire)
		require.NoError(t, err)
		require.NotEqual(t, before, stored(), "advanced even if the transaction fails")
		_, err = chain.Send(chain.sign(before, advance, chain.gift(to, 1)))
		requireRefused(t, err, "BlockhashNotFound")
		chain.blocks(1)
	}
	require.EqualValues(t, sol, chain.lamports(to, ledger.Processed))
}
