package differential

import (
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// fixture plays steps in the model and in an executor, compares the outcomes, and checks the invariants.
type fixture struct {
	executor executor
	rent     model.Rent
	stats    *stats

	participants *participants
	environment  *model.Environment
	ledgers      ledgers
	// played is the number of steps of the sequence; it selects the simulations, so that they do not use
	// random numbers.
	played int
	// trace, if not nil, receives a line for each step.
	trace func(string)
}

// failure ends a sequence: the executor and the model differ, or an invariant does not hold.
type failure struct {
	// kind distinguishes failures; shrinking keeps the kind.
	kind    string
	message string
}

func (f *failure) Error() string { return f.message }

func failuref(kind, format string, arguments ...any) error {
	return &failure{kind: kind, message: fmt.Sprintf(format, arguments...)}
}

// asFailure returns the failure in an error, or nil.
func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	return nil
}

func newFixture(e executor) (*fixture, error) {
	rent, err := e.Rent()
	if err != nil {
		return nil, err
	}
	return &fixture{executor: e, rent: rent, stats: newStats()}, nil
}

// begin starts a new sequence.
func (f *fixture) begin(p *participants, environment *model.Environment) error {
	f.participants, f.environment, f.ledgers, f.played = p, environment, ledgers{}, 0
	if err := f.executor.Begin(environment.Accounts); err != nil {
		return err
	}
	return f.executor.SetClock(environment.Now)
}

func (f *fixture) play(next step) error {
	f.played++
	switch {
	case next.until != nil:
		f.environment.Now = max(f.environment.Now, *next.until)
		f.traceStep(next, "")
		return f.executor.SetClock(f.environment.Now)
	case next.mutate != nil:
		f.traceStep(next, "")
		return f.mutate(next)
	}
	return f.execute(next)
}

func (f *fixture) mutate(next step) error {
	before := f.environment.Clone()
	e := &edit{environment: f.environment}
	next.mutate(e)
	f.ledgers.addDonations(f.participants, before, f.environment)
	changed := map[model.Address]model.Account{}
	for _, address := range e.changed {
		changed[address] = f.environment.Accounts[address]
	}
	if err := f.executor.Set(changed); err != nil {
		return err
	}
	return f.checkMutationControl(before, next.actor)
}

func (f *fixture) execute(next step) error {
	call := asLoaded(next.instruction)
	expected := model.Execute(f.environment, *call)
	if isRentRefused(f.environment, expected.Changed) {
		// Mollusk would store the changes, because it executes no transaction. No cluster reaches this state.
		f.traceStep(next, "not executed: leaves an account below its rent exemption")
		return nil
	}
	f.traceStep(next, expected.Code.String())
	found, err := f.executor.Execute(call)
	if asFailure(err) != nil {
		return err
	}
	if err != nil {
		return failuref("executor", "%v", err)
	}
	f.stats.add(call, expected, found)
	f.addRefusalStats(call, expected)
	if err := f.compare(call, expected, found); err != nil {
		return err
	}
	before := f.environment.Clone()
	f.environment.Apply(expected)
	f.addCreationStats(before)
	if err := f.ledgers.follow(f.participants, before, f.environment, call); err != nil {
		return err
	}
	return f.checkInvariants(before, call, !found.failed())
}
