// Package durable makes files survive a crash of the machine.
package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// SyncFolder makes the name of a file as durable as its content. Windows has no such operation.
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
