package journaltest_test

import (
	"testing"

	"github.com/haggle-protocol/haggle/sdk/store/journaltest"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// The tests of a journal. Its stalled stores hold leases that are never renewed.
func Example() {
	open := func(t *testing.T, path string) (journaltest.Store, error) { return sqlite.Open(t.Context(), path) }
	stalled := open                                              // of a test's own, with short leases
	_ = func(t *testing.T) { journaltest.Run(t, open, stalled) } // TestStoreIsAJournal
}
