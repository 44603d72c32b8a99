package differential

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/tests/differential/model"
	"github.com/haggle-protocol/haggle/tests/differential/svm"
)

// pairExecutor executes every instruction in two virtual machines and compares the outcomes byte for byte: in
// Agave's crates compiled for this processor, and in the same crates compiled to the in-process chain's
// WebAssembly module. It returns the native outcomes.
type pairExecutor struct {
	native *svmExecutor
	module *engineExecutor
}

// pairExecutors builds the native virtual machine and the program, compiles the module, and returns a function
// that starts both machines.
func pairExecutors(t *testing.T) func() executor {
	t.Helper()
	binary, err := svm.Build(t.Context())
	require.NoError(t, err)
	elf, module := programELF(t), compileModule(t)
	return func() executor {
		native := startMachine(t, binary, elf)
		return &pairExecutor{native, startEngine(t, module, elf, native.machine)}
	}
}

func (p *pairExecutor) Begin(accounts map[model.Address]model.Account) error {
	return errors.Join(p.native.Begin(accounts), p.module.Begin(accounts))
}

func (p *pairExecutor) Set(accounts map[model.Address]model.Account) error {
	return errors.Join(p.native.Set(accounts), p.module.Set(accounts))
}

func (p *pairExecutor) SetClock(now int64) error {
	return errors.Join(p.native.SetClock(now), p.module.SetClock(now))
}

func (p *pairExecutor) Execute(instruction *model.Instruction) (*outcome, error) {
	return compareMachines(instruction, p.native.Execute, p.module.Execute)
}

func (p *pairExecutor) Simulate(instruction *model.Instruction) (*outcome, error) {
	return compareMachines(instruction, p.native.Simulate, p.module.Simulate)
}

func (p *pairExecutor) Rent() (model.Rent, error) {
	native, err := p.native.Rent()
	if err != nil {
		return model.Rent{}, err
	}
	module, err := p.module.Rent()
	if native != module {
		err = errors.Join(err, fmt.Errorf("rent: native %v, module %v", native, module))
	}
	return native, err
}

func (p *pairExecutor) Close() error { return errors.Join(p.native.Close(), p.module.Close()) }

func compareMachines(instruction *model.Instruction,
	inNative, inModule func(*model.Instruction) (*outcome, error)) (*outcome, error) {
	native, err := inNative(instruction)
	if err != nil {
		return nil, err
	}
	module, err := inModule(instruction)
	if err != nil {
		return nil, err
	}
	if part, difference := native.difference(module); part != "" {
		name := model.NameOf(instruction.Data)
		return nil, failuref("machines: "+name+": "+part, "%s: %s differs:\n%s\nlog of the native machine:\n%s",
			name, part, difference, strings.Join(native.log, "\n"))
	}
	return native, nil
}

// The sequences' instructions return no data, so this test calls a Token-2022 instruction that does.
func TestMachinesReturnTheSameData(t *testing.T) {
	pair := pairExecutors(t)()
	t.Cleanup(func() { require.NoError(t, pair.Close()) })
	mint := model.Address{1}
	require.NoError(t, pair.Begin(map[model.Address]model.Account{
		mint: {Lamports: startingLamports, Owner: solana.Token2022ProgramID, Data: newMint()},
	}))
	require.NoError(t, pair.SetClock(1))
	found, err := pair.Execute(&model.Instruction{Program: solana.Token2022ProgramID,
		Accounts: []solana.AccountMeta{{PublicKey: mint}}, Data: []byte{getAccountDataSize}})
	require.NoError(t, err)
	require.Equal(t, model.Success.String(), found.code)
	require.Equal(t, binary.LittleEndian.AppendUint64(nil, tokenAccountSize), found.returned)
}

// getAccountDataSize is the discriminator of the instruction that returns the size of a mint's token
// accounts.
const getAccountDataSize = 21
