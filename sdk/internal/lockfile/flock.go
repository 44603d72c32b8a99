//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package lockfile

import (
	"errors"
	"os"
	"syscall"
)

func take(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errTaken
		default:
			return err
		}
	}
}
