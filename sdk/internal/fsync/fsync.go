// Package fsync syncs folders, so that the names of new files survive a crash of the machine.
package fsync

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// SyncFolder syncs the folder of a file. On Windows, which has no such operation, it does nothing.
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
