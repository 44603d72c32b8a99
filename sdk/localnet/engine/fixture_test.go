package engine_test

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// compiled returns the module shared by the package's tests. It uses the machine's compilation cache.
func compiled(t testing.TB) *engine.Module {
	t.Helper()
	module, err := compileOnce()
	require.NoError(t, err)
	return module
}

var compileOnce = sync.OnceValues(func() (*engine.Module, error) {
	cache, err := localnet.CacheFolder()
	if err != nil {
		return nil, err
	}
	return engine.Compile(context.Background(), cache+"/wasm")
})

const (
	clockSlot = 100
	unixTime  = 1_800_000_000
	lamports  = 10 * solana.LAMPORTS_PER_SOL
)

// chain is an engine with a clock, the program and a funded key.
type chain struct {
	*engine.Engine
	t     testing.TB
	payer solana.PrivateKey
}

func start(t testing.TB) *chain {
	t.Helper()
	started, err := compiled(t).New(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, started.Close()) })
	c := &chain{started, t, newKey(t)}
	c.setClock(clockSlot, unixTime)
	c.fund(c.payer.PublicKey(), lamports)
	require.NoError(t, c.LoadProgram(protocol.ProgramID, localnet.Program(), c.payer.PublicKey()))
	return c
}

func newKey(t testing.TB) solana.PrivateKey {
	t.Helper()
	key, err := solana.NewRandomPrivateKey()
	require.NoError(t, err)
	return key
}

func (c *chain) fund(address solana.PublicKey, lamports uint64) {
	c.t.Helper()
	require.NoError(c.t, c.SetAccount(address, engine.Account{Lamports: lamports, Owner: solana.SystemProgramID}))
}

func (c *chain) setClock(slot, unixTime uint64) {
	c.t.Helper()
	stored, err := c.Account(solana.SysVarClockPubkey)
	require.NoError(c.t, err)
	stored.Data = make([]byte, 40)
	binary.LittleEndian.PutUint64(stored.Data, slot)
	binary.LittleEndian.PutUint64(stored.Data[32:], unixTime)
	require.NoError(c.t, c.SetAccount(solana.SysVarClockPubkey, stored))
}

// wire returns a signed transaction that the first signer pays for.
func wire(t testing.TB, signers []solana.PrivateKey, instructions ...solana.Instruction) []byte {
	t.Helper()
	transaction, err := solana.NewTransaction(instructions, solana.Hash{1}, solana.TransactionPayer(signers[0].PublicKey()))
	require.NoError(t, err)
	_, err = transaction.Sign(func(key solana.PublicKey) *solana.PrivateKey {
		for i := range signers {
			if signers[i].PublicKey() == key {
				return &signers[i]
			}
		}
		return nil
	})
	require.NoError(t, err)
	encoded, err := transaction.MarshalBinary()
	require.NoError(t, err)
	return encoded
}

// execute executes an instruction that must succeed.
func (c *chain) execute(signer solana.PrivateKey, of protocol.AnyInstruction) *engine.Result {
	c.t.Helper()
	instruction, err := of.Instruction()
	require.NoError(c.t, err)
	result, err := c.Execute(wire(c.t, []solana.PrivateKey{signer}, instruction))
	require.NoError(c.t, err)
	require.Nil(c.t, result.Err, "%s\n%q", result.Err, result.Logs)
	return result
}

func (c *chain) account(address solana.PublicKey) engine.Account {
	c.t.Helper()
	stored, err := c.Account(address)
	require.NoError(c.t, err)
	return stored
}
