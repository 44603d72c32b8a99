package differential

import (
	"encoding/base64"
	"maps"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// executor holds accounts and a clock, and executes instructions on them.
type executor interface {
	// Begin removes all accounts and sets these.
	Begin(accounts map[model.Address]model.Account) error
	// Set sets these accounts and keeps the others.
	Set(accounts map[model.Address]model.Account) error
	SetClock(now int64) error
	Execute(instruction *model.Instruction) (*outcome, error)
	// Simulate returns the outcome of Execute but makes no changes.
	Simulate(instruction *model.Instruction) (*outcome, error)
	Rent() (model.Rent, error)
	Close() error
}

// outcome is an instruction's outcome.
type outcome struct {
	// code is a model.Code as a string, or the name of an unnumbered error.
	code  string
	units uint64
	log   []string
	// returned is the return data.
	returned []byte
	changed  map[model.Address]model.Account
}

func (o *outcome) failed() bool { return o.code != model.Success.String() }

const eventPrefix = "Program data: "

// modelExecutor executes instructions in the model.
type modelExecutor struct{ environment model.Environment }

func (m *modelExecutor) Begin(accounts map[model.Address]model.Account) error {
	m.environment.Accounts = maps.Clone(accounts)
	m.environment.Rent, _ = m.Rent()
	return nil
}

func (m *modelExecutor) Set(accounts map[model.Address]model.Account) error {
	maps.Copy(m.environment.Accounts, accounts)
	return nil
}

func (m *modelExecutor) SetClock(now int64) error {
	m.environment.Now = now
	return nil
}

func (m *modelExecutor) Execute(instruction *model.Instruction) (*outcome, error) {
	result := model.Execute(&m.environment, *instruction)
	m.environment.Apply(result)
	return outcomeOf(result), nil
}

func (m *modelExecutor) Simulate(instruction *model.Instruction) (*outcome, error) {
	return outcomeOf(model.Execute(&m.environment, *instruction)), nil
}

// Rent returns the rent of the public clusters.
func (m *modelExecutor) Rent() (model.Rent, error) {
	return model.Rent{Empty: 890_880, PerByte: 6_960}, nil
}

func (m *modelExecutor) Close() error { return nil }

func outcomeOf(result *model.Result) *outcome {
	o := &outcome{code: result.Code.String(), changed: result.Changed}
	for _, event := range result.Events {
		o.log = append(o.log, eventPrefix+base64.StdEncoding.EncodeToString(event.Bytes()))
	}
	return o
}
