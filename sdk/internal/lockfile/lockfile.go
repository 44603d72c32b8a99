// Package lockfile keeps two processes from using the same file. The system drops a lock when the process ends, however it does.
package lockfile

import (
	"errors"
	"fmt"
	"os"
)

// errTaken: another process, or this one, has the lock.
var errTaken = errors.New("locked")

// Take locks a path until the lock is closed. If it is locked already, taken is true. The lock is on a file of its own beside it,
// so that the path's file can be replaced.
func Take(path string) (lock *os.File, taken bool, err error) {
	file, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	if taken, err := Hold(file); err != nil {
		return nil, taken, errors.Join(err, file.Close())
	}
	return file, false, nil
}

// Hold locks an open file itself, by whatever path it has been opened, until it is closed. If it is locked already, taken is true
// and err says so.
func Hold(file *os.File) (taken bool, err error) {
	if err := take(file); err != nil {
		return errors.Is(err, errTaken), fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return false, nil
}
