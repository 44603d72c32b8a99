package localnet

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// manyChains is set to the number of chains of TestChainsLeaveNothing: 1,000 take some minutes.
const manyChains = "HAGGLE_CHAINS"

// Successive in-process chains leave neither goroutines nor memory.
func TestChainsLeaveNothing(t *testing.T) {
	count := 50
	if text := os.Getenv(manyChains); text != "" {
		var err error
		count, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	used := func() (goroutines int, heap uint64) {
		runtime.GC()
		runtime.GC() // pools survive one collection
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		return runtime.NumGoroutine(), memory.HeapAlloc
	}
	once := func() {
		chain, err := StartChain(t.Context(), Options{Kind: Process})
		require.NoError(t, err)
		require.NoError(t, chain.Fund(t.Context(), chain.ProgramID, 1))
		require.NoError(t, chain.Close())
	}
	once() // the module and the connections' pools stay
	goroutines, heap := used()
	for range count {
		once()
	}
	// The last one's connections may need a moment. A chain uses more than 10 MiB, so no chain may stay.
	require.Eventually(t, func() bool {
		goroutinesAfter, heapAfter := used()
		return goroutinesAfter <= goroutines+5 && heapAfter < heap+10<<20
	}, 10*time.Second, 100*time.Millisecond, "%d goroutines, %d bytes before", goroutines, heap)
}
