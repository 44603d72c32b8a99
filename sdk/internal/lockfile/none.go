//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package lockfile

import (
	"errors"
	"os"
)

func take(*os.File) error { return errors.ErrUnsupported }
