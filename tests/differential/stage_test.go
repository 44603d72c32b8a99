package differential

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/machine"
	"github.com/haggle-protocol/haggle/internal/model"
	"github.com/haggle-protocol/haggle/sdk"
)

// stage plays steps in the model and in the virtual machine, and compares.
type stage struct {
	machine *machine.Machine
	rent    model.Rent
	tally   *tally

	cast  *cast
	world *model.World
	books *books
	// played is how many steps of the sequence have been played; probes depend on it and not on chance.
	played int
	// aloud, if not nil, is told each step and what came of it.
	aloud func(string)
}

// difference is what ends a sequence: the program and the model disagree, or a law is broken.
type difference struct {
	// kind tells differences apart, so that shrinking does not run from one into another.
	kind string
	// what is the whole story of it.
	what string
}

func (d *difference) Error() string { return d.what }

func differ(kind, format string, arguments ...any) error {
	return &difference{kind: kind, what: fmt.Sprintf(format, arguments...)}
}

func newStage(ctx context.Context, binary string, elf []byte) (*stage, error) {
	m, err := machine.Start(ctx, binary)
	if err != nil {
		return nil, err
	}
	st := &stage{machine: m, tally: newTally()}
	for _, program := range []solana.PublicKey{haggle.ProgramID, impostor} {
		if err := m.Load(program, elf); err != nil {
			return nil, err
		}
	}
	empty, err := m.Rent(0)
	if err != nil {
		return nil, err
	}
	byteMore, err := m.Rent(1)
	if err != nil {
		return nil, err
	}
	st.rent = model.Rent{Empty: empty, PerByte: byteMore - empty}
	return st, nil
}

// begin forgets everything and begins with a world.
func (st *stage) begin(people *cast, world *model.World) error {
	st.cast, st.world, st.books, st.played = people, world, newBooks(), 0
	accounts := make([]machine.KeyedAccount, 0, len(world.Accounts))
	for address, account := range world.Accounts {
		accounts = append(accounts, machine.KeyedAccount{Address: address, Account: machine.Account(account)})
	}
	if err := st.machine.Begin(accounts); err != nil {
		return err
	}
	return st.machine.SetClock(world.Now)
}

// play plays a step.
func (st *stage) play(next step) error {
	st.played++
	switch {
	case next.until != nil:
		st.world.Now = max(st.world.Now, *next.until)
		st.say(next, "")
		return st.machine.SetClock(st.world.Now)
	case next.trick != nil:
		st.say(next, "")
		return st.deceive(next.trick)
	}
	return st.execute(next)
}

func (st *stage) deceive(trick func(*edit)) error {
	before := st.world.Clone()
	e := &edit{world: st.world}
	trick(e)
	st.books.deceive(st.cast, before, st.world)
	var changed []machine.KeyedAccount
	for _, address := range e.changed {
		changed = append(changed, machine.KeyedAccount{Address: address, Account: machine.Account(st.world.Accounts[address])})
	}
	return st.machine.Set(changed)
}

func (st *stage) execute(next step) error {
	expected := model.Execute(st.world, *next.call)
	found, err := st.machine.Run(machine.Instruction(*next.call))
	if err != nil {
		return differ("the machine fails", "%v", err)
	}
	st.tally.count(next.call, expected, found)
	st.say(next, fmt.Sprintf("%v", expected.Code))
	if err := st.compare(next.call, expected, found); err != nil {
		return err
	}
	before := st.world.Clone()
	st.world.Apply(expected)
	st.countCreations(before)
	if err := st.books.follow(st.cast, before, st.world, model.NameOf(next.call.Data)); err != nil {
		return err
	}
	return st.checkLaws(before)
}

// compare compares what the model expects with what the machine has found.
func (st *stage) compare(call *model.Instruction, expected *model.Result, found *machine.Outcome) error {
	name := model.NameOf(call.Data)
	if answer := foundCode(found); answer != expected.Code.String() {
		return differ(name+" answers "+answer+", and the model "+expected.Code.String(), "%s answers %s, and the model %v\n%s", name, answer, expected.Code, strings.Join(found.Log, "\n"))
	}
	if found.Failed {
		return nil
	}
	if err := st.compareEvents(name, expected.Events, eventsOf(found.Log)); err != nil {
		return err
	}
	changed := map[solana.PublicKey]model.Account{}
	for _, account := range found.Changed {
		changed[account.Address] = model.Account(account.Account)
	}
	all := maps.Clone(changed)
	maps.Copy(all, expected.Changed)
	for _, address := range sorted(all) {
		now, ok := changed[address]
		if !ok {
			now = st.world.Accounts[address]
		}
		want, ok := expected.Changed[address]
		if !ok {
			want = st.world.Accounts[address]
		}
		if !now.Is(want) {
			return differ(name+" leaves "+st.cast.name(address), "%s leaves %s otherwise than the model:\n%s", name, st.cast.name(address),
				accountDifferences(now, want))
		}
	}
	return nil
}

func foundCode(found *machine.Outcome) string {
	switch {
	case found.OtherError != "":
		return found.OtherError
	case found.Failed:
		return model.Code(found.Code).String()
	}
	return model.Success.String()
}

// eventsOf are the events in a log.
func eventsOf(log []string) [][]byte {
	var events [][]byte
	for _, line := range log {
		if text, ok := strings.CutPrefix(line, "Program data: "); ok {
			data, err := base64.StdEncoding.DecodeString(text)
			must(err)
			events = append(events, data)
		}
	}
	return events
}

func (st *stage) compareEvents(name string, expected []model.Event, found [][]byte) error {
	same := slices.EqualFunc(expected, found, func(e model.Event, f []byte) bool { return bytes.Equal(e.Bytes(), f) })
	if same {
		return nil
	}
	var want, got strings.Builder
	for _, e := range expected {
		fmt.Fprintf(&want, "\n  %s", st.showEvent(e.Bytes()))
	}
	for _, f := range found {
		fmt.Fprintf(&got, "\n  %s", st.showEvent(f))
	}
	return differ(name+" logs", "%s logs%s\nand the model%s", name, got.String(), want.String())
}

func sorted(accounts map[solana.PublicKey]model.Account) []solana.PublicKey {
	return slices.SortedFunc(maps.Keys(accounts), func(a, b solana.PublicKey) int { return slices.Compare(a[:], b[:]) })
}
