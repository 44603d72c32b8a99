package differential

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/tests/differential/model"
	"github.com/haggle-protocol/haggle/tests/differential/svm"
)

// svmExecutor executes instructions in a validator's virtual machine.
type svmExecutor struct{ machine *svm.Machine }

// startMachine starts a virtual machine with the program at two addresses.
func startMachine(t *testing.T, binary string, elf []byte) *svmExecutor {
	t.Helper()
	m, err := svm.Start(context.Background(), binary) // t.Context ends before the cleanups.
	require.NoError(t, err)
	for _, program := range []model.Address{model.ProgramID, impostor} {
		require.NoError(t, m.Load(program, elf))
	}
	return &svmExecutor{m}
}

// programELF returns the program's ELF file: HAGGLE_ELF if set, or else built from the sources.
func programELF(t *testing.T) []byte {
	t.Helper()
	path := os.Getenv("HAGGLE_ELF")
	if path == "" {
		elf, err := svm.BuildProgram(t.Context())
		require.NoError(t, err)
		return elf
	}
	elf, err := os.ReadFile(path)
	require.NoError(t, err)
	return elf
}

func (s *svmExecutor) Begin(accounts map[model.Address]model.Account) error {
	return s.machine.Begin(keyed(accounts))
}

func (s *svmExecutor) Set(accounts map[model.Address]model.Account) error {
	return s.machine.Set(keyed(accounts))
}

func keyed(accounts map[model.Address]model.Account) []svm.KeyedAccount {
	list := make([]svm.KeyedAccount, 0, len(accounts))
	for address, account := range accounts {
		list = append(list, svm.KeyedAccount{Address: address, Account: svm.Account(account)})
	}
	return list
}

func (s *svmExecutor) SetClock(now int64) error { return s.machine.SetClock(now) }

func (s *svmExecutor) Execute(instruction *model.Instruction) (*outcome, error) {
	found, err := s.machine.Run(svm.Instruction(*instruction))
	if err != nil {
		return nil, err
	}
	return foundOutcome(found), nil
}

func (s *svmExecutor) Simulate(instruction *model.Instruction) (*outcome, error) {
	found, err := s.machine.Probe(svm.Instruction(*instruction))
	if err != nil {
		return nil, err
	}
	return foundOutcome(found), nil
}

func foundOutcome(found *svm.Outcome) *outcome {
	o := &outcome{code: model.Success.String(), units: found.Units, log: found.Log, returned: found.ReturnData,
		changed: map[model.Address]model.Account{}}
	switch {
	case found.OtherError != "":
		o.code = found.OtherError
	case found.Failed:
		o.code = model.Code(found.Code).String()
	}
	for _, account := range found.Changed {
		o.changed[account.Address] = model.Account(account.Account)
	}
	return o
}

func (s *svmExecutor) Rent() (model.Rent, error) {
	empty, err := s.machine.Rent(0)
	if err != nil {
		return model.Rent{}, err
	}
	oneByte, err := s.machine.Rent(1)
	return model.Rent{Empty: empty, PerByte: oneByte - empty}, err
}

func (s *svmExecutor) Close() error { return s.machine.Close() }
