package differential

import (
	"fmt"
	"strings"
)

// shrink leaves out steps while the sequence still ends in a failure of the same kind, and returns the trace
// of the rest.
func shrink(f *fixture, seed uint64, steps []step, first *failure) string {
	last := first
	for size := max(1, len(steps)/2); size >= 1; {
		shorter := false
		for at := 0; at < len(steps); {
			candidate := append(append([]step(nil), steps[:at]...), steps[min(at+size, len(steps)):]...)
			if found, played := replaySteps(f, seed, candidate, first.kind); found != nil {
				steps, last, shorter = candidate[:played], found, true
			} else {
				at += size
			}
		}
		if size == 1 && !shorter {
			break
		}
		size = max(1, size/2)
	}
	return fmt.Sprintf("%s\n%v", traceSteps(f, seed, steps), last)
}

// replaySteps plays steps. It returns the failure and the number of steps up to it if the failure is of the
// kind.
func replaySteps(f *fixture, seed uint64, steps []step, kind string) (found *failure, played int) {
	if f.begin(newEnvironment(newRandom(seed), f.rent)) != nil {
		return nil, 0
	}
	for i, next := range steps {
		if err := f.play(next); err != nil {
			if found := asFailure(err); found != nil && found.kind == kind {
				return found, i + 1
			}
			return nil, 0
		}
	}
	return nil, 0
}

// traceSteps plays steps again and returns their trace.
func traceSteps(f *fixture, seed uint64, steps []step) string {
	if err := f.begin(newEnvironment(newRandom(seed), f.rent)); err != nil {
		return err.Error()
	}
	var text strings.Builder
	fmt.Fprintf(&text, "clock: %d\n", f.environment.Now)
	trace := f.trace
	f.trace = func(line string) { text.WriteString(line + "\n") }
	defer func() { f.trace = trace }()
	for _, next := range steps {
		if f.play(next) != nil {
			break
		}
	}
	return text.String()
}
