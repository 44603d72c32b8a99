package differential

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/machine"
)

// usualInstructions is how many instructions are played unless HAGGLE_INSTRUCTIONS says otherwise.
const usualInstructions = 50_000

// usualFirstSeed is the first sequence's seed unless HAGGLE_FIRST_SEED says otherwise.
const usualFirstSeed = 1

// setting is a number in the environment; ok is false if it is not there.
func setting(t *testing.T, name string) (value uint64, ok bool) {
	t.Helper()
	text, ok := os.LookupEnv(name)
	if !ok || text == "" {
		return 0, false
	}
	value, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, name)
	return value, true
}

func TestTheProgramDoesWhatTheModelSays(t *testing.T) {
	open := theater(t)
	if seed, ok := setting(t, "HAGGLE_SEED"); ok {
		st := open()
		st.aloud = func(line string) { t.Log(line) }
		playOne(t, st, seed, func(string) bool { return true })
		return
	}
	instructions, ok := setting(t, "HAGGLE_INSTRUCTIONS")
	if !ok {
		instructions = usualInstructions
	}
	firstSeed, ok := setting(t, "HAGGLE_FIRST_SEED")
	if !ok {
		firstSeed = usualFirstSeed
	}
	t.Logf("sequences from seed %d on", firstSeed)

	run := &run{instructions: instructions, firstSeed: firstSeed, tally: newTally(), kinds: map[string]int{}}
	var players sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		st := open()
		players.Go(func() { run.play(t, st) })
	}
	players.Wait()
	t.Log(run.tally.String())
	for kind, times := range run.kinds {
		t.Errorf("%d sequences fail: %s", times, kind)
	}
	if instructions >= usualInstructions {
		require.Empty(t, run.tally.gaps(), "what the sequences were meant to reach")
	}
}

// run is what the players of a run share.
type run struct {
	instructions, firstSeed uint64

	sequences, played atomic.Uint64
	lock              sync.Mutex
	tally             *tally
	// kinds are the differences that were found, and how often; the first of each kind is told.
	kinds map[string]int
}

// mostKinds is how many kinds of differences are told before a run gives up.
const mostKinds = 8

func (r *run) play(t *testing.T, st *stage) {
	for r.played.Load() < r.instructions && !r.hasSeenEnough() {
		before := st.tally.instructions
		playOne(t, st, r.firstSeed+r.sequences.Add(1)-1, r.isNew)
		r.played.Add(uint64(st.tally.instructions - before))
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.tally.add(st.tally)
}

func (r *run) hasSeenEnough() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return len(r.kinds) > mostKinds
}

func (r *run) isNew(kind string) bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.kinds[kind]++
	return r.kinds[kind] == 1
}

// theater builds what is needed, and answers with a function that opens a stage.
func theater(t *testing.T) func() *stage {
	t.Helper()
	binary, err := machine.Build(t.Context())
	require.NoError(t, err)
	var elf []byte
	if path := os.Getenv("HAGGLE_ELF"); path != "" {
		elf, err = os.ReadFile(path)
	} else {
		elf, err = machine.BuildProgram(t.Context())
	}
	require.NoError(t, err)
	return func() *stage {
		// The context of a test ends before its cleanups.
		st, err := newStage(context.Background(), binary, elf)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, st.machine.Close()) })
		return st
	}
}

// playOne plays the sequence of a seed. A difference of a new kind fails the test with the shortest story of it.
func playOne(t *testing.T, st *stage, seed uint64, isNew func(kind string) bool) {
	s, err := tell(st, seed)
	var found *difference
	switch {
	case errors.As(err, &found):
		if isNew(found.kind) {
			t.Errorf("the sequence of HAGGLE_SEED=%d fails:\n%s", seed, shrink(st, seed, s.steps, found))
		}
	case err != nil:
		t.Fatalf("HAGGLE_SEED=%d: %v", seed, err)
	}
}
