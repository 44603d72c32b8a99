package svm_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/tests/differential/svm"
)

func start(t *testing.T) *svm.Machine {
	t.Helper()
	binary, err := svm.Build(t.Context())
	require.NoError(t, err)
	// A test's context ends before cleanups run.
	m, err := svm.Start(context.Background(), binary)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// transfer returns a transfer of the system program.
func transfer(from, to solana.PublicKey, lamports byte) svm.Instruction {
	return svm.Instruction{
		Program: solana.SystemProgramID,
		Accounts: []solana.AccountMeta{
			{PublicKey: from, IsSigner: true, IsWritable: true},
			{PublicKey: to, IsWritable: true},
		},
		Data: []byte{2, 0, 0, 0, lamports, 0, 0, 0, 0, 0, 0, 0},
	}
}

func TestInstructionsRunOnTheAccountsThatWereSet(t *testing.T) {
	m := start(t)
	from, to := solana.PublicKey{1}, solana.PublicKey{2}
	require.NoError(t, m.Begin([]svm.KeyedAccount{{Address: from, Account: svm.Account{Lamports: 9}}}))

	probed, err := m.Probe(transfer(from, to, 4))
	require.NoError(t, err)
	outcome, err := m.Run(transfer(from, to, 4))
	require.NoError(t, err)
	require.Equal(t, outcome, probed)
	require.False(t, outcome.Failed)
	require.Equal(t, uint64(150), outcome.Units)
	require.Contains(t, outcome.Log, "Program 11111111111111111111111111111111 success")
	now := []svm.KeyedAccount{
		{Address: from, Account: svm.Account{Lamports: 5, Data: []byte{}}},
		{Address: to, Account: svm.Account{Lamports: 4, Data: []byte{}}},
	}
	require.Equal(t, now, outcome.Changed)

	outcome, err = m.Run(transfer(from, to, 6))
	require.NoError(t, err)
	require.True(t, outcome.Failed)
	require.Equal(t, uint32(1), outcome.Code)
	require.Empty(t, outcome.Changed)

	unsigned := transfer(from, to, 1)
	unsigned.Accounts[0].IsSigner = false
	outcome, err = m.Run(unsigned)
	require.NoError(t, err)
	require.Equal(t, "MissingRequiredSignature", outcome.OtherError)

	accounts, err := m.Accounts(from, to)
	require.NoError(t, err)
	require.Equal(t, now, accounts)
	require.NoError(t, m.Begin(nil))
	accounts, err = m.Accounts(from)
	require.NoError(t, err)
	require.Zero(t, accounts[0].Lamports)
}

func TestAProgramIsLoadedFromItsFile(t *testing.T) {
	m := start(t)
	elf, err := svm.BuildProgram(t.Context())
	require.NoError(t, err)
	program := solana.PublicKey{7}
	require.NoError(t, m.Load(program, elf))
	loaded, err := m.ELF(program)
	require.NoError(t, err)
	require.True(t, bytes.Equal(elf, loaded))
	_, err = m.ELF(solana.PublicKey{8})
	require.ErrorContains(t, err, "no ELF file")
	require.NoError(t, m.SetClock(1_700_000_000))
	lamports, err := m.Rent(0)
	require.NoError(t, err)
	require.Positive(t, lamports)

	// The program runs at another address than declared, and returns DeclaredProgramIdMismatch.
	outcome, err := m.Run(svm.Instruction{Program: program, Data: make([]byte, 8)})
	require.NoError(t, err)
	require.True(t, outcome.Failed)
	require.Equal(t, uint32(4100), outcome.Code)
}
