package ledger_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

var compileOnce = sync.OnceValues(func() (*engine.Module, error) {
	cache, err := localnet.CacheFolder()
	if err != nil {
		return nil, err
	}
	return engine.Compile(context.Background(), cache+"/wasm")
})

const (
	genesisTime = 1_800_000_000
	sol         = solana.LAMPORTS_PER_SOL
)

// chain is a ledger whose clock stands still, with a funded key.
type chain struct {
	*ledger.Ledger
	t     testing.TB
	payer solana.PrivateKey
}

func start(t testing.TB) *chain { return startWith(t, ledger.Options{}) }

func startWith(t testing.TB, options ledger.Options) *chain {
	t.Helper()
	module, err := compileOnce()
	require.NoError(t, err)
	options.Module = module
	options.Now = func() time.Time { return time.Unix(genesisTime, 0) }
	started, err := ledger.New(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, started.Close()) })
	c := &chain{started, t, newKey(t)}
	require.NoError(t, c.SetAccount(c.payer.PublicKey(), engine.Account{Lamports: 10 * sol}))
	return c
}

func newKey(t testing.TB) solana.PrivateKey {
	t.Helper()
	key, err := solana.NewRandomPrivateKey()
	require.NoError(t, err)
	return key
}

// sign returns a transaction that the payer signs and pays for.
func (c *chain) sign(hash solana.Hash, instructions ...solana.Instruction) []byte {
	c.t.Helper()
	transaction, err := solana.NewTransaction(instructions, hash, solana.TransactionPayer(c.payer.PublicKey()))
	require.NoError(c.t, err)
	_, err = transaction.Sign(func(solana.PublicKey) *solana.PrivateKey { return &c.payer })
	require.NoError(c.t, err)
	wire, err := transaction.MarshalBinary()
	require.NoError(c.t, err)
	return wire
}

func (c *chain) gift(to solana.PublicKey, lamports uint64) solana.Instruction {
	return system.NewTransferInstruction(lamports, c.payer.PublicKey(), to).Build()
}

func (c *chain) latest() solana.Hash { return c.LatestBlockhash(ledger.Confirmed).Hash }

// send sends lamports in a transaction that must be executed.
func (c *chain) send(to solana.PublicKey, lamports uint64) *ledger.Transaction {
	c.t.Helper()
	sent, err := c.Send(c.sign(c.latest(), c.gift(to, lamports)))
	require.NoError(c.t, err)
	return sent
}

func (c *chain) lamports(address solana.PublicKey, commitment ledger.Commitment) uint64 {
	account := c.Account(address, commitment)
	if account == nil {
		return 0
	}
	return account.Lamports
}

func (c *chain) blocks(count int) {
	c.t.Helper()
	require.NoError(c.t, c.SkipBlocks(count))
}

func requireRefused(t testing.TB, err error, name string) {
	t.Helper()
	var refused *ledger.TransactionError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, `"`+name+`"`, string(refused.Err))
}

func TestCommitments(t *testing.T) {
	chain := start(t)
	to := newKey(t).PublicKey()
	sent := chain.send(to, sol)
	for _, step := range []struct {
		blocks int
		want   ledger.Commitment
		seen   map[ledger.Commitment]uint64
	}{
		{0, ledger.Processed, map[ledger.Commitment]uint64{ledger.Processed: sol}},
		{1, ledger.Confirmed, map[ledger.Commitment]uint64{ledger.Processed: sol, ledger.Confirmed: sol}},
		{31, ledger.Confirmed, map[ledger.Commitment]uint64{ledger.Processed: sol, ledger.Confirmed: sol}},
		{1, ledger.Finalized, map[ledger.Commitment]uint64{
			ledger.Processed: sol, ledger.Confirmed: sol, ledger.Finalized: sol,
		}},
	} {
		chain.blocks(step.blocks)
		status, known := chain.Status(sent.Signature)
		require.True(t, known)
		require.Equal(t, step.want, status.Commitment)
		for _, commitment := range []ledger.Commitment{ledger.Processed, ledger.Confirmed, ledger.Finalized} {
			require.Equal(t, step.seen[commitment], chain.lamports(to, commitment), commitment)
			history := chain.History(to, commitment, ledger.Page{})
			require.Equal(t, step.seen[commitment] > 0, len(history) == 1, commitment)
			owned, _ := chain.ProgramAccounts(solana.SystemProgramID, commitment, func(account *engine.Account) bool {
				return account.Lamports == sol
			})
			require.Equal(t, step.seen[commitment] > 0, len(owned) == 1, commitment)
		}
	}
}

func TestBlockContainsItsTransactions(t *testing.T) {
	chain := start(t)
	first, second := chain.send(newKey(t).PublicKey(), sol), chain.send(newKey(t).PublicKey(), sol)
	require.Equal(t, first.Slot, second.Slot)
	_, visible := chain.Block(first.Slot, ledger.Confirmed)
	require.False(t, visible, "the block is open")
	chain.blocks(1)
	block, visible := chain.Block(first.Slot, ledger.Confirmed)
	require.True(t, visible)
	require.Equal(t, []*ledger.Transaction{first, second}, block.Transactions)
	require.Equal(t, block.Hash, chain.latest())
	require.Equal(t, []int{0, 1}, []int{first.Index, second.Index})
	require.EqualValues(t, 10*sol, first.Before.Lamports[0])
	require.EqualValues(t, 9*sol-5000, first.After.Lamports[0])
}

func TestBlockhashExpires(t *testing.T) {
	chain := start(t)
	hash := chain.LatestBlockhash(ledger.Confirmed)
	to := newKey(t).PublicKey()
	chain.blocks(ledger.MaxBlockhashAge)
	require.Equal(t, hash.LastValidHeight, chain.Slot(ledger.Confirmed))
	require.True(t, chain.BlockhashValid(hash.Hash, ledger.Confirmed))
	_, err := chain.Send(chain.sign(hash.Hash, chain.gift(to, sol)))
	require.NoError(t, err)
	chain.blocks(1)
	require.False(t, chain.BlockhashValid(hash.Hash, ledger.Confirmed))
	_, err = chain.Send(chain.sign(hash.Hash, chain.gift(to, 2*sol)))
	requireRefused(t, err, "BlockhashNotFound")
	_, err = chain.Send(chain.sign(solana.Hash{1}, chain.gift(to, 2*sol)))
	requireRefused(t, err, "BlockhashNotFound")
	result, err := chain.Simulate(chain.sign(hash.Hash, chain.gift(to, 2*sol)), ledger.Simulation{ReplaceBlockhash: true})
	require.NoError(t, err)
	require.Nil(t, result.Result.Err)
}

func TestTransactionIsExecutedOnce(t *testing.T) {
	chain := start(t)
	to := newKey(t).PublicKey()
	wire := chain.sign(chain.latest(), chain.gift(to, sol))
	_, err := chain.Send(wire)
	require.NoError(t, err)
	for range 2 {
		_, err = chain.Send(wire)
		requireRefused(t, err, "AlreadyProcessed")
		chain.blocks(1)
	}
	require.EqualValues(t, sol, chain.lamports(to, ledger.Processed))
	require.EqualValues(t, 1, chain.TransactionCount())
}

func TestFailedTransactionIsPartOfABlock(t *testing.T) {
	chain := start(t)
	sent := chain.send(newKey(t).PublicKey(), 100*sol)
	require.JSONEq(t, `{"InstructionError":[0,{"Custom":1}]}`, string(sent.Result.Err))
	require.EqualValues(t, 10*sol-5000, chain.lamports(chain.payer.PublicKey(), ledger.Processed))
	status, known := chain.Status(sent.Signature)
	require.True(t, known)
	require.NotNil(t, status.Result.Err)
}

func TestInvalidTransactionsAreRefused(t *testing.T) {
	chain := start(t)
	wire := chain.sign(chain.latest(), chain.gift(newKey(t).PublicKey(), sol))
	forged := append([]byte(nil), wire...)
	forged[5] ^= 1
	_, err := chain.Send(forged)
	require.ErrorIs(t, err, ledger.ErrSignature)
	result, err := chain.Simulate(forged, ledger.Simulation{})
	require.NoError(t, err)
	require.Nil(t, result.Result.Err, "simulations do not verify unless asked to")
	var invalid *ledger.DecodeError
	for length := range wire {
		_, err := chain.Send(wire[:length])
		require.ErrorAs(t, err, &invalid, length)
	}
	executed, err := chain.Send(append(append([]byte(nil), wire...), 0))
	require.NoError(t, err, "nodes ignore bytes after the transaction")
	require.Equal(t, wire, executed.Wire)
	poor := *chain
	poor.payer = newKey(t)
	_, err = chain.Send(poor.sign(chain.latest(), poor.gift(newKey(t).PublicKey(), 1)))
	requireRefused(t, err, "AccountNotFound")
}
