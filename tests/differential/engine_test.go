package differential

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/tests/differential/model"
	"github.com/haggle-protocol/haggle/tests/differential/svm"
)

// engineExecutor executes instructions in the WebAssembly module of the in-process chain. Each instruction is
// executed in a separate transaction. The fee payer is not an account of the sequence, so fees do not change
// the sequence's balances.
type engineExecutor struct {
	engine      *engine.Engine
	programData engine.Account
	// existing contains the sequence's accounts that hold lamports.
	existing map[model.Address]bool
}

// clockTimeOffset is where the Unix time stands in the clock's data: after the slot, the epoch's start, the
// epoch, and the leader schedule's epoch.
const clockTimeOffset = 32

// feePayer pays for the transactions.
var feePayer = model.Address{99, 99}

func compileModule(t *testing.T) *engine.Module {
	t.Helper()
	cache, err := localnet.CacheFolder()
	require.NoError(t, err)
	module, err := engine.Compile(context.Background(), filepath.Join(cache, "wasm"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, module.Close()) })
	return module
}

// startEngine starts an engine with a native machine's token programs. Differences then never come from
// program versions: the engine includes another build of Token-2022.
func startEngine(t *testing.T, module *engine.Module, elf []byte, native *svm.Machine) *engineExecutor {
	t.Helper()
	started, err := module.New(context.Background())
	require.NoError(t, err)
	e := &engineExecutor{engine: started, existing: map[model.Address]bool{}}
	require.NoError(t, e.SetClock(0)) // Before the programs, which are deployed in the clock's slot.
	for _, program := range []model.Address{model.ProgramID, impostor} {
		require.NoError(t, started.LoadProgram(program, elf, solana.PublicKey{}))
	}
	token2022, err := native.ELF(solana.Token2022ProgramID)
	require.NoError(t, err)
	require.NoError(t, started.LoadProgram(solana.Token2022ProgramID, token2022, solana.PublicKey{}))
	token, err := native.ELF(solana.TokenProgramID) // The sequences use it under loader version 2.
	require.NoError(t, err)
	require.NoError(t, started.SetAccount(solana.TokenProgramID, engine.Account{Owner: solana.BPFLoaderProgramID,
		Lamports: engine.MinimumBalance(len(token)), Executable: true, RentEpoch: math.MaxUint64, Data: token}))

	e.programData, err = started.Account(model.ProgramDataAddress())
	require.NoError(t, err)
	return e
}

func (e *engineExecutor) Begin(accounts map[model.Address]model.Account) error {
	for address := range e.existing {
		if err := e.engine.SetAccount(address, engine.Account{}); err != nil {
			return err
		}
	}
	clear(e.existing)
	payer := engine.Account{Lamports: startingLamports, RentEpoch: math.MaxUint64}
	if err := e.engine.SetAccount(feePayer, payer); err != nil {
		return err
	}
	return e.Set(accounts)
}

func (e *engineExecutor) Set(accounts map[model.Address]model.Account) error {
	for address, account := range accounts {
		if account.Executable {
			continue // The engine has loaded the programs. In the sequences, program accounts lack data.
		}
		if err := e.set(address, account); err != nil {
			return err
		}
	}
	return nil
}

// set sets an account. The account's rent epoch is the epoch that transactions give to rent exempt accounts:
// otherwise the first transaction to write it would change it.
func (e *engineExecutor) set(address model.Address, account model.Account) error {
	if address == model.ProgramDataAddress() {
		// The account contains the ELF file after the header that the sequence sets.
		stored := e.programData
		stored.Data = append(slices.Clone(account.Data), stored.Data[len(account.Data):]...)
		return e.engine.SetAccount(address, stored)
	}
	e.follow(address, account.Lamports)
	return e.engine.SetAccount(address, engine.Account{Lamports: account.Lamports, Owner: account.Owner,
		RentEpoch: math.MaxUint64, Data: account.Data})
}

// follow records whether an account exists.
func (e *engineExecutor) follow(address model.Address, lamports uint64) {
	if lamports > 0 {
		e.existing[address] = true
	} else {
		delete(e.existing, address)
	}
}

// SetClock sets the clock to a time in slot 0, as mollusk does.
func (e *engineExecutor) SetClock(now int64) error {
	data := binary.LittleEndian.AppendUint64(make([]byte, clockTimeOffset), uint64(now))
	return e.engine.SetAccount(solana.SysVarClockPubkey, engine.Account{Lamports: 1, Owner: solana.SysVarPubkey,
		Data: data})
}

func (e *engineExecutor) Execute(instruction *model.Instruction) (*outcome, error) {
	found, err := e.run(e.engine.Execute, instruction)
	if err != nil {
		return nil, err
	}
	for address, account := range found.changed {
		e.follow(address, account.Lamports)
	}
	return found, nil
}

func (e *engineExecutor) Simulate(instruction *model.Instruction) (*outcome, error) {
	return e.run(e.engine.Simulate, instruction)
}

func (e *engineExecutor) run(execute func(wire []byte) (*engine.Result, error),
	instruction *model.Instruction) (*outcome, error) {
	result, err := execute(wireTransaction(instruction))
	if err != nil {
		return nil, err
	}
	code, err := codeOf(result.Err)
	if err != nil {
		return nil, err
	}
	return &outcome{code: code, units: result.ComputeUnits, log: result.Logs, returned: result.ReturnData,
		changed: e.changed(result)}, nil
}

// changed returns a transaction's changes except the fee payer's. A writable account that existed neither
// before nor afterwards is not a change: the engine returns it because loading sets the rent epoch.
func (e *engineExecutor) changed(result *engine.Result) map[model.Address]model.Account {
	changed := map[model.Address]model.Account{}
	for _, entry := range result.Changes {
		if entry.Address == feePayer || !entry.Account.Exists() && !e.existing[entry.Address] {
			continue
		}
		changed[entry.Address] = model.Account{Lamports: entry.Account.Lamports, Owner: entry.Account.Owner,
			Executable: entry.Account.Executable, Data: entry.Account.Data}
	}
	return changed
}

func (e *engineExecutor) Rent() (model.Rent, error) {
	empty := engine.MinimumBalance(0)
	return model.Rent{Empty: empty, PerByte: engine.MinimumBalance(1) - empty}, nil
}

func (e *engineExecutor) Close() error { return e.engine.Close() }

// codeOf returns an outcome's code for a TransactionError. An error not raised by the instruction remains
// JSON, such as "AccountNotFound".
func codeOf(failure json.RawMessage) (string, error) {
	if failure == nil {
		return model.Success.String(), nil
	}
	var transaction struct{ InstructionError []json.RawMessage }
	if json.Unmarshal(failure, &transaction) != nil || len(transaction.InstructionError) != 2 {
		return string(failure), nil
	}
	var custom struct{ Custom *model.Code }
	var name string
	switch instruction := transaction.InstructionError[1]; {
	case json.Unmarshal(instruction, &name) == nil:
		return name, nil
	case json.Unmarshal(instruction, &custom) == nil && custom.Custom != nil:
		return custom.Custom.String(), nil
	}
	return "", fmt.Errorf("unknown error of an instruction: %s", failure)
}
