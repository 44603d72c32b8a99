package differential

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// defaultInstructions is the number of instructions per run.
const defaultInstructions = 50_000

// readNumber reads an environment variable. It returns false if the variable is unset.
func readNumber(t *testing.T, name string) (value uint64, ok bool) {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return 0, false
	}
	value, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, name)
	return value, true
}

// firstSeed returns the seed of the first sequence: HAGGLE_FIRST_SEED, or a seed that changes every second.
func firstSeed(t *testing.T) uint64 {
	t.Helper()
	if seed, ok := readNumber(t, "HAGGLE_FIRST_SEED"); ok {
		return seed
	}
	return uint64(time.Now().Unix()) * 1_000_000
}

// instructionCount returns the number of instructions per run: HAGGLE_INSTRUCTIONS or the default.
func instructionCount(t *testing.T) uint64 {
	t.Helper()
	if instructions, ok := readNumber(t, "HAGGLE_INSTRUCTIONS"); ok {
		return instructions
	}
	return defaultInstructions
}

func TestProgramMatchesTheModel(t *testing.T) {
	instructions := instructionCount(t)
	stats := runSequences(t, pairExecutors(t), instructions)
	if isLong := stats.instructions >= defaultInstructions; isLong && !t.Failed() {
		require.Empty(t, stats.gaps(), "outcomes that the sequences must reach")
	}
}

// TestModelKeepsTheInvariants checks the invariants on the model alone. A failure of the test above then
// shows whether the program or the model is wrong.
func TestModelKeepsTheInvariants(t *testing.T) {
	runSequences(t, func() executor { return new(modelExecutor) }, instructionCount(t)/5)
}

func openFixture(t *testing.T, e executor) *fixture {
	t.Helper()
	f, err := newFixture(e)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return f
}

// run is the state shared by a run's workers.
type run struct {
	instructions, firstSeed uint64

	sequences, played atomic.Uint64
	lock              sync.Mutex
	stats             *stats
	// kinds counts the failures by kind. Only the first failure per kind is shrunk and printed.
	kinds map[string]int
}

// maxKinds is the number of failure kinds that stops a run.
const maxKinds = 8

// runSequences plays sequences in parallel until they contain the number of instructions. If HAGGLE_SEED is
// set, it plays only the sequence for this seed, with a trace.
func runSequences(t *testing.T, newExecutor func() executor, instructions uint64) *stats {
	t.Helper()
	if seed, ok := readNumber(t, "HAGGLE_SEED"); ok {
		f := openFixture(t, newExecutor())
		f.trace = func(line string) { t.Log(line) }
		runSequence(t, f, seed, func(string) bool { return true })
		return f.stats
	}
	r := &run{instructions: instructions, firstSeed: firstSeed(t), stats: newStats(), kinds: map[string]int{}}
	t.Logf("first seed %d: repeat this run with HAGGLE_FIRST_SEED=%d", r.firstSeed, r.firstSeed)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		f := openFixture(t, newExecutor())
		workers.Go(func() { r.work(t, f) })
	}
	workers.Wait()
	t.Log(r.stats.String())
	for kind, count := range r.kinds {
		t.Errorf("%d sequences fail: %s", count, kind)
	}
	return r.stats
}

func (r *run) work(t *testing.T, f *fixture) {
	for r.played.Load() < r.instructions && !r.hasEnoughFailures() {
		before := f.stats.instructions
		runSequence(t, f, r.firstSeed+r.sequences.Add(1)-1, r.isNewKind)
		r.played.Add(uint64(f.stats.instructions - before))
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.stats.merge(f.stats)
}

func (r *run) hasEnoughFailures() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return len(r.kinds) > maxKinds
}

func (r *run) isNewKind(kind string) bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.kinds[kind]++
	return r.kinds[kind] == 1
}

// runSequence plays a seed's sequence. If it fails with a new kind of failure, the test fails with the
// shortest sequence that fails in the same way.
func runSequence(t *testing.T, f *fixture, seed uint64, isNewKind func(kind string) bool) {
	s, err := runScenario(f, seed)
	if err == nil {
		return
	}
	found := asFailure(err)
	switch {
	case found == nil:
		t.Errorf("HAGGLE_SEED=%d: %v", seed, err)
	case isNewKind(found.kind):
		t.Errorf("HAGGLE_SEED=%d fails:\n%s", seed, shrink(f, seed, s.steps, found))
	}
}
