package engine_test

import (
	"bytes"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func (c *chain) transfer(amount uint64, to solana.PublicKey) []byte {
	return wire(c.t, []solana.PrivateKey{c.payer}, system.NewTransferInstruction(amount, c.payer.PublicKey(), to).Build())
}

func TestExecuteStoresChanges(t *testing.T) {
	chain := start(t)
	to := newKey(t).PublicKey()
	result, err := chain.Execute(chain.transfer(1_000_000, to))
	require.NoError(t, err)
	require.Nil(t, result.Err)
	require.True(t, result.Charged)
	require.EqualValues(t, 5000, result.Fee)
	require.EqualValues(t, 150, result.ComputeUnits)
	require.EqualValues(t, 1_000_000, chain.account(to).Lamports)
	require.EqualValues(t, lamports-1_005_000, chain.account(chain.payer.PublicKey()).Lamports)
	require.Contains(t, result.Logs, "Program 11111111111111111111111111111111 success")
}

func TestFailedTransactionPaysItsFeeAlone(t *testing.T) {
	chain := start(t)
	to := newKey(t).PublicKey()
	result, err := chain.Execute(wire(t, []solana.PrivateKey{chain.payer},
		system.NewTransferInstruction(1_000_000, chain.payer.PublicKey(), to).Build(),
		system.NewTransferInstruction(2*lamports, chain.payer.PublicKey(), to).Build()))
	require.NoError(t, err)
	require.JSONEq(t, `{"InstructionError":[1,{"Custom":1}]}`, string(result.Err))
	require.True(t, result.Charged)
	require.False(t, chain.account(to).Exists())
	require.EqualValues(t, lamports-5000, chain.account(chain.payer.PublicKey()).Lamports)
	require.Len(t, result.Changes, 1)
}

func TestTransactionOutsideOfABlockPaysNothing(t *testing.T) {
	chain := start(t)
	poor := newKey(t)
	result, err := chain.Execute(wire(t, []solana.PrivateKey{poor},
		system.NewTransferInstruction(1, poor.PublicKey(), chain.payer.PublicKey()).Build()))
	require.NoError(t, err)
	require.JSONEq(t, `"AccountNotFound"`, string(result.Err))
	require.False(t, result.Charged)
	require.Zero(t, result.Fee)
	require.Empty(t, result.Changes)
}

func TestMissingProgramPaysTheFee(t *testing.T) {
	chain := start(t)
	result, err := chain.Execute(wire(t, []solana.PrivateKey{chain.payer},
		solana.NewInstruction(newKey(t).PublicKey(), nil, nil)))
	require.NoError(t, err)
	require.Contains(t, []string{`"ProgramAccountNotFound"`, `"InvalidProgramForExecution"`}, string(result.Err))
	require.True(t, result.Charged)
	require.EqualValues(t, lamports-5000, chain.account(chain.payer.PublicKey()).Lamports)
}

func TestSimulateStoresNothing(t *testing.T) {
	chain := start(t)
	to := newKey(t).PublicKey()
	result, err := chain.Simulate(chain.transfer(1_000_000, to))
	require.NoError(t, err)
	require.Nil(t, result.Err)
	require.Len(t, result.Changes, 2)
	require.False(t, chain.account(to).Exists())
	require.EqualValues(t, lamports, chain.account(chain.payer.PublicKey()).Lamports)
}

func TestProgramErrorsAreNamedInTheLog(t *testing.T) {
	chain := start(t)
	instruction, err := (&protocol.SetPaused{Authority: chain.payer.PublicKey()}).Instruction()
	require.NoError(t, err)
	result, err := chain.Execute(wire(t, []solana.PrivateKey{chain.payer}, instruction))
	require.NoError(t, err)
	require.JSONEq(t, `{"InstructionError":[0,{"Custom":3007}]}`, string(result.Err))
	require.Contains(t, string(bytes.Join(lines(result.Logs), []byte("\n"))), "Error Number: 3007.")
}

func lines(logs []string) (lines [][]byte) {
	for _, line := range logs {
		lines = append(lines, []byte(line))
	}
	return lines
}

func TestRestoreContinuesFromTheImage(t *testing.T) {
	chain := start(t)
	to := newKey(t).PublicKey()
	image, err := chain.Snapshot()
	require.NoError(t, err)
	_, err = chain.Execute(chain.transfer(1_000_000, to))
	require.NoError(t, err)

	for range 2 {
		other, err := compiled(t).Restore(t.Context(), image)
		require.NoError(t, err)
		stored, err := other.Account(to)
		require.NoError(t, err)
		require.False(t, stored.Exists())
		result, err := other.Execute(chain.transfer(2_000_000, to))
		require.NoError(t, err)
		require.Nil(t, result.Err)
		require.NoError(t, other.Close())
	}
	require.EqualValues(t, 1_000_000, chain.account(to).Lamports, "the engines are independent")
}

func TestInvalidRequestsAreRejected(t *testing.T) {
	chain := start(t)
	var rejected *engine.RequestError
	for name, wire := range map[string][]byte{
		"empty":     nil,
		"garbage":   bytes.Repeat([]byte{0xff}, 200),
		"truncated": chain.transfer(1, newKey(t).PublicKey())[:100],
		"too long":  make([]byte, engine.MaxTransactionBytes+1),
	} {
		_, err := chain.Execute(wire)
		require.ErrorAs(t, err, &rejected, name)
	}
	program := newKey(t).PublicKey()
	require.ErrorAs(t, chain.LoadProgram(program, []byte("\x7fELF"), solana.PublicKey{}), &rejected)
	require.False(t, chain.account(program).Exists())
	clock := chain.account(solana.SysVarClockPubkey)
	clock.Data = clock.Data[:7]
	require.ErrorAs(t, chain.SetAccount(solana.SysVarClockPubkey, clock), &rejected)
	require.ErrorAs(t, chain.SetAccount(program, engine.Account{Lamports: 1, Data: make([]byte, engine.MaxAccountBytes+1)}), &rejected)
	result, err := chain.Execute(chain.transfer(1_000_000, program))
	require.NoError(t, err, "the engine goes on")
	require.Nil(t, result.Err)
}

func TestClosedEngine(t *testing.T) {
	started, err := compiled(t).New(t.Context())
	require.NoError(t, err)
	require.NoError(t, started.Close())
	require.NoError(t, started.Close())
	_, err = started.Account(solana.PublicKey{})
	require.ErrorIs(t, err, engine.ErrClosed)
	_, err = started.Snapshot()
	require.ErrorIs(t, err, engine.ErrClosed)
}

// FuzzExecute checks that transactions never stop the engine.
func FuzzExecute(f *testing.F) {
	started, err := compiled(f).New(f.Context())
	require.NoError(f, err)
	f.Cleanup(func() { _ = started.Close() })
	key, err := solana.NewRandomPrivateKey()
	require.NoError(f, err)
	f.Add(wire(f, []solana.PrivateKey{key}, system.NewTransferInstruction(1, key.PublicKey(), solana.PublicKey{1}).Build()))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, wire []byte) {
		if _, err := started.Execute(wire); err != nil {
			var rejected *engine.RequestError
			require.ErrorAs(t, err, &rejected)
		}
	})
}
