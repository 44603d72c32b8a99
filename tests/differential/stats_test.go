package differential

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// stats counts instructions, result codes and outcomes.
type stats struct {
	sequences, instructions, simulations int
	// codes counts results by instruction and code.
	codes map[string]map[model.Code]int
	// outcomes counts the model's outcomes.
	outcomes map[string]int
	// units maps each instruction to the most compute units used in a successful call.
	units map[string]uint64
}

func newStats() *stats {
	return &stats{codes: map[string]map[model.Code]int{}, outcomes: map[string]int{},
		units: map[string]uint64{}}
}

func (s *stats) add(call *model.Instruction, expected *model.Result, found *outcome) {
	s.instructions++
	name := model.NameOf(call.Data)
	if s.codes[name] == nil {
		s.codes[name] = map[model.Code]int{}
	}
	s.codes[name][expected.Code]++
	for _, outcome := range expected.Outcomes {
		s.outcomes[outcome]++
	}
	if !found.failed() {
		s.units[name] = max(s.units[name], found.units)
	}
}

// merge adds the counts of another fixture.
func (s *stats) merge(other *stats) {
	s.sequences += other.sequences
	s.instructions += other.instructions
	s.simulations += other.simulations
	for name, codes := range other.codes {
		if s.codes[name] == nil {
			s.codes[name] = map[model.Code]int{}
		}
		for code, count := range codes {
			s.codes[name][code] += count
		}
	}
	for outcome, count := range other.outcomes {
		s.outcomes[outcome] += count
	}
	for name, units := range other.units {
		s.units[name] = max(s.units[name], units)
	}
}

func (s *stats) String() string {
	var page strings.Builder
	fmt.Fprintf(&page, "%d sequences, %d instructions, %d simulations\n", s.sequences, s.instructions,
		s.simulations)
	for _, name := range slices.Sorted(maps.Keys(s.codes)) {
		title := name
		if title == "" {
			title = "(unknown instruction)"
		}
		fmt.Fprintf(&page, "\n%s, at most %d compute units\n", title, s.units[name])
		for _, code := range slices.Sorted(maps.Keys(s.codes[name])) {
			fmt.Fprintf(&page, "%8d  %v\n", s.codes[name][code], code)
		}
	}
	fmt.Fprintf(&page, "\n")
	for _, outcome := range slices.Sorted(maps.Keys(s.outcomes)) {
		fmt.Fprintf(&page, "%8d  %s\n", s.outcomes[outcome], outcome)
	}
	return page.String()
}

// addCreationStats counts negotiations whose address held lamports or another negotiation before.
func (f *fixture) addCreationStats(before *model.Environment) {
	for _, s := range f.participants.sessions {
		was, is := readNegotiation(before, s.negotiation), readNegotiation(f.environment, s.negotiation)
		if was != nil || is == nil {
			continue
		}
		if f.ledgers.at(s.negotiation).created {
			f.stats.outcomes["created again after closing"]++
		}
		if before.Accounts[s.negotiation].Lamports+before.Accounts[s.vault].Lamports > 0 {
			f.stats.outcomes["created at a prefunded address"]++
		}
	}
}

// addRefusalStats counts instructions that fail for a reason that the code alone does not show.
func (f *fixture) addRefusalStats(call *model.Instruction, expected *model.Result) {
	instruction, ok := model.Decode(*call)
	if !ok || expected.Code == model.Success {
		return
	}
	switch i := instruction.(type) {
	case *model.CloseNegotiation:
		n := readNegotiation(f.environment, i.Negotiation)
		if expected.Code == model.InvalidState && n.IsOver() {
			f.stats.outcomes["close refused in the second of the creation"]++
		}
	case *model.RejectNegotiation:
		n := readNegotiation(f.environment, i.Negotiation)
		if expected.Code != model.StaleState {
			break
		}
		if i.CreatedAt == n.CreatedAt && i.ExpectedRound == n.CurrentRound {
			f.stats.outcomes["rejection refused that expects a forfeited bond"]++
		}
	}
	if expected.Code == model.StaleState {
		f.addStaleStats(call, instruction)
	}
}

// addStaleStats counts instructions that fail only because they contain another negotiation's created_at.
func (f *fixture) addStaleStats(call *model.Instruction, instruction model.AnyInstruction) {
	createdAt, negotiation := createdAtOf(call)
	n := readNegotiation(f.environment, negotiation)
	if createdAt == nil || *createdAt == n.CreatedAt {
		return
	}
	reflect.ValueOf(instruction).Elem().FieldByName("CreatedAt").SetInt(n.CreatedAt)
	corrected := *call
	corrected.Data = model.Encode(instruction).Data
	if model.Execute(f.environment, corrected).Code != model.Success {
		return
	}
	f.stats.outcomes["stale created_at stops "+model.NameOf(call.Data)]++
	for _, s := range f.participants.sessions {
		if s.negotiation == negotiation && s.isEarlier(*createdAt) {
			f.stats.outcomes["created_at of an earlier negotiation stops an instruction"]++
		}
	}
}

// createdAtOf returns an instruction's created_at argument and negotiation. createdAt is nil if the
// instruction lacks the argument or cannot be decoded.
func createdAtOf(call *model.Instruction) (createdAt *int64, negotiation model.Address) {
	instruction, ok := model.Decode(*call)
	if !ok {
		return nil, model.Address{}
	}
	value := reflect.ValueOf(instruction).Elem()
	field := value.FieldByName("CreatedAt")
	if !field.IsValid() {
		return nil, model.Address{}
	}
	seconds := field.Int()
	return &seconds, value.FieldByName("Negotiation").Interface().(model.Address)
}
