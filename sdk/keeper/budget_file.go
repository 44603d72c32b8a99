package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"github.com/haggle-protocol/haggle/sdk/internal/durable"
)

var (
	// ErrBudgetInUse: another keeper uses the budget file.
	ErrBudgetInUse = errors.New("keeper: budget file in use by another process")
	// ErrBudgetDamaged: the budget file cannot be decoded, so the amount spent is unknown.
	ErrBudgetDamaged = errors.New("keeper: budget file damaged")
)

// budgetFile keeps the expenses of a day.
type budgetFile struct {
	path string
	lock *flock.Flock
}

const budgetVersion = 1

type budgetDocument struct {
	Version int `json:"version"`
	// Spent is the oldest first.
	Spent []expense `json:"spent"`
}

// open reads the file, which need not exist, and locks it.
func (f *budgetFile) open() ([]expense, error) {
	lock := flock.New(f.path+".lock", flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("keeper: %w", err)
	}
	if !locked {
		return nil, fmt.Errorf("%w: %s", ErrBudgetInUse, f.path)
	}
	spent, err := f.read()
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	f.lock = lock
	return spent, nil
}

func (f *budgetFile) close() error {
	lock := f.lock
	f.lock = nil
	return lock.Unlock()
}

func (f *budgetFile) read() ([]expense, error) {
	content, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("keeper: %w", err)
	}
	var document budgetDocument
	if err := json.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrBudgetDamaged, f.path, err)
	}
	if document.Version != budgetVersion {
		return nil, fmt.Errorf("%w: %s: version %d", ErrBudgetDamaged, f.path, document.Version)
	}
	return document.Spent, nil
}

// write replaces the file atomically: a process that is killed leaves the old content or the new one.
func (f *budgetFile) write(spent []expense) error {
	content, err := json.Marshal(budgetDocument{Version: budgetVersion, Spent: spent})
	if err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	if err := renameio.WriteFile(f.path, append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("keeper: write the budget file: %w", err)
	}
	if err := durable.SyncFolder(f.path); err != nil {
		return fmt.Errorf("keeper: sync the budget file's folder: %w", err)
	}
	return nil
}
