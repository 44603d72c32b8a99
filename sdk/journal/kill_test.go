package journal_test

import (
	"testing"

	"github.com/haggle-protocol/haggle/sdk/journal"
	"github.com/haggle-protocol/haggle/sdk/journal/journaltest"
)

func open(path string) (journaltest.Store, error) {
	file, err := journal.Open(path)
	if err != nil {
		return nil, err
	}
	return file, nil
}

func TestMain(m *testing.M) { journaltest.Main(m, open) }

func TestKilledProcessLosesNothingThatWasPromised(t *testing.T) { journaltest.RunKilled(t, open) }
