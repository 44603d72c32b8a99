package journal

import "errors"

var (
	// ErrLocked: another process uses the journal.
	ErrLocked = errors.New("haggle: the journal is in use by another process")
	// ErrDamaged: the journal contains data that it has not written, and not where an interrupted write would
	// leave it.
	ErrDamaged = errors.New("haggle: the journal is damaged")
)
