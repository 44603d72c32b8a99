// Package lockfile keeps two processes from using the same file. The lock is on a file of its own, beside the one that it is for,
// so that the latter can be replaced; the system drops it when the process ends, however it does.
package lockfile

import (
	"errors"
	"fmt"
	"os"
)

// errTaken: another process, or this one, has the lock.
var errTaken = errors.New("locked")

// Take locks a file until the lock is closed. If it is locked already, taken is true.
func Take(path string) (lock *os.File, taken bool, err error) {
	file, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	if err := take(file); err != nil {
		return nil, errors.Is(err, errTaken), errors.Join(fmt.Errorf("lock %s: %w", file.Name(), err), file.Close())
	}
	return file, false, nil
}
