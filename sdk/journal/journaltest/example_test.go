package journaltest_test

import (
	"testing"

	"github.com/haggle-protocol/haggle/sdk/journal/journaltest"
	"github.com/haggle-protocol/haggle/sdk/journal/sqlite"
)

// The tests of a journal. Its stalled stores hold leases that are never renewed. TestMain calls Main, because
// RunKilled starts the test again as a process that it kills.
func Example() {
	open := func(path string) (journaltest.Store, error) { return sqlite.Open(path) }
	stalled := open                                              // of a test's own, with short leases
	_ = func(m *testing.M) { journaltest.Main(m, open) }         // TestMain
	_ = func(t *testing.T) { journaltest.Run(t, open, stalled) } // TestStoreIsAJournal
	_ = func(t *testing.T) { journaltest.RunKilled(t, open) }    // TestKilledProcess
}
