package journal

import "errors"

var (
	// ErrLocked: another process uses the journal.
	ErrLocked = errors.New("haggle: the journal is in use by another process")
	// ErrDamaged: the journal contains data that it has not written, and not where an interrupted write would
	// leave it.
	ErrDamaged = errors.New("haggle: the journal is damaged")
	// ErrVersion: another version of this package has written the journal. It is not migrated, and not used,
	// because it may have unfinished transactions.
	ErrVersion = errors.New("haggle: another version has written the journal")
)
