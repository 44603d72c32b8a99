package journaltest_test

import (
	"testing"

	"github.com/haggle-protocol/haggle/sdk/journal"
	"github.com/haggle-protocol/haggle/sdk/journal/journaltest"
)

// The test of an own journal. TestMain calls Main, because RunKilled starts the test again as a process that
// it kills.
func Example() {
	open := func(path string) (journaltest.Store, error) { return journal.Open(path) }
	_ = func(m *testing.M) { journaltest.Main(m, open) }                   // TestMain
	_ = func(t *testing.T) { journaltest.Run(t, open, journal.ErrLocked) } // TestStoreIsAJournal
	_ = func(t *testing.T) { journaltest.RunKilled(t, open) }              // TestKilledProcess
}
