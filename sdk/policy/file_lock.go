//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package policy

import (
	"os"
	"syscall"
)

// lockFile keeps every other process from locking the file, as long as it is open.
func lockFile(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
