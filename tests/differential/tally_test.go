package differential

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/haggle-protocol/haggle/internal/machine"
	"github.com/haggle-protocol/haggle/internal/model"
)

// tally counts what happened.
type tally struct {
	sequences, instructions, probes int
	// codes are counts by instruction and code; outcomes by what the model says has happened.
	codes    map[string]map[model.Code]int
	outcomes map[string]int
	// units are the most compute units that an instruction has used when it succeeded.
	units map[string]uint64
}

func newTally() *tally {
	return &tally{codes: map[string]map[model.Code]int{}, outcomes: map[string]int{}, units: map[string]uint64{}}
}

func (t *tally) count(call *model.Instruction, expected *model.Result, found *machine.Outcome) {
	t.instructions++
	name := model.NameOf(call.Data)
	if t.codes[name] == nil {
		t.codes[name] = map[model.Code]int{}
	}
	t.codes[name][expected.Code]++
	for _, outcome := range expected.Outcomes {
		t.outcomes[outcome]++
	}
	if !found.Failed {
		t.units[name] = max(t.units[name], found.Units)
	}
}

func (t *tally) add(other *tally) {
	t.sequences += other.sequences
	t.instructions += other.instructions
	t.probes += other.probes
	for name, codes := range other.codes {
		if t.codes[name] == nil {
			t.codes[name] = map[model.Code]int{}
		}
		for code, count := range codes {
			t.codes[name][code] += count
		}
	}
	for outcome, count := range other.outcomes {
		t.outcomes[outcome] += count
	}
	for name, units := range other.units {
		t.units[name] = max(t.units[name], units)
	}
}

func (t *tally) String() string {
	var page strings.Builder
	fmt.Fprintf(&page, "%d sequences, %d instructions, %d probes\n", t.sequences, t.instructions, t.probes)
	for _, name := range slices.Sorted(maps.Keys(t.codes)) {
		shown := name
		if shown == "" {
			shown = "(no instruction)"
		}
		fmt.Fprintf(&page, "\n%s, at most %d compute units\n", shown, t.units[name])
		for _, code := range slices.Sorted(maps.Keys(t.codes[name])) {
			fmt.Fprintf(&page, "%8d  %v\n", t.codes[name][code], code)
		}
	}
	fmt.Fprintf(&page, "\n")
	for _, outcome := range slices.Sorted(maps.Keys(t.outcomes)) {
		fmt.Fprintf(&page, "%8d  %s\n", t.outcomes[outcome], outcome)
	}
	return page.String()
}
