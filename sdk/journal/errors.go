package journal

import "errors"

var (
	// ErrDamaged: the journal contains data that it has not written.
	ErrDamaged = errors.New("haggle: the journal is damaged")
	// ErrVersion: another version of this package has written the journal. It is not migrated, and not used,
	// because it may have unfinished transactions.
	ErrVersion = errors.New("haggle: another version has written the journal")
)
