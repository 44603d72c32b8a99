// Package fsync syncs directories, so that the names of new files survive a crash of the machine.
package fsync

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// SyncFolder syncs a file's directory. On Windows, which lacks such an operation, it does nothing.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
