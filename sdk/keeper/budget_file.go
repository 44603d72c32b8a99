package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

var (
	// ErrBudgetInUse: another keeper has the budget file.
	ErrBudgetInUse = errors.New("keeper: the budget file is in use by another process")
	// ErrBudgetDamaged: the budget file contains something that no keeper has written. What has been spent is not known then.
	ErrBudgetDamaged = errors.New("keeper: the budget file is damaged")
)

// budgetFile keeps what has been spent within a day.
type budgetFile struct {
	path string
	lock *flock.Flock
}

const budgetVersion = 1

type budgetDocument struct {
	Version int `json:"version"`
	// Spent is the oldest first.
	Spent []expenseDocument `json:"spent"`
}

type expenseDocument struct {
	// At is the machine's time in Unix seconds.
	At       int64  `json:"at"`
	Lamports uint64 `json:"lamports"`
}

// open reads the file, which need not exist, and keeps others from it.
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
	var spent []expense
	for _, one := range document.Spent {
		spent = append(spent, expense{time.Unix(one.At, 0), one.Lamports})
	}
	return spent, nil
}

// write replaces the file at once: whoever is killed while it happens leaves the old one or the new one.
func (f *budgetFile) write(spent []expense) error {
	document := budgetDocument{Version: budgetVersion, Spent: []expenseDocument{}}
	for _, one := range spent {
		document.Spent = append(document.Spent, expenseDocument{one.at.Unix(), one.amount})
	}
	content, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	if err := f.replace(append(content, '\n')); err != nil {
		return fmt.Errorf("keeper: the budget file cannot be written: %w", err)
	}
	return nil
}

func (f *budgetFile) replace(content []byte) error {
	folder := filepath.Dir(f.path)
	fresh, err := os.CreateTemp(folder, "."+filepath.Base(f.path)+".")
	if err != nil {
		return err
	}
	_, err = fresh.Write(content)
	err = errors.Join(err, fresh.Sync(), fresh.Close())
	if err == nil {
		err = os.Rename(fresh.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh.Name()))
	}
	opened, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(opened.Sync(), opened.Close())
}
