package journal_test

import (
	"testing"

	"github.com/haggle-protocol/haggle/sdk/journal"
	"github.com/haggle-protocol/haggle/sdk/journal/journaltest"
)

func TestFileIsAJournal(t *testing.T) { journaltest.Run(t, open, journal.ErrLocked) }
