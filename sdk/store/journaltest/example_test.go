package journaltest_test

import (
	"testing"

	"github.com/haggle-protocol/haggle/sdk/store/journaltest"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// The tests for a journal. Stalled stores hold leases that are never renewed.
func Example() {
	open := func(t *testing.T, path string) (journaltest.Store, error) { return sqlite.Open(t.Context(), path) }
	stalled := open                                              // defined by the test, with short leases
	_ = func(t *testing.T) { journaltest.Run(t, open, stalled) } // TestStoreIsAJournal
}
