package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
)

// checkFolder returns a command line error unless files can be written to the flag's directory. A missing
// directory matches [fs.ErrNotExist]. An empty path is no error.
func checkFolder(flag, path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &exitcode.Error{Kind: exitcode.Usage, Hint: "create it where all its users can write",
			Err: fmt.Errorf("%s: folder %s: %w", flag, path, fs.ErrNotExist)}
	case err != nil:
		return exitcode.Usagef("%s: %w", flag, err)
	case !info.IsDir():
		return exitcode.Usagef("%s: %s is not a folder", flag, path)
	}
	probe, err := os.CreateTemp(path, ".haggle-*")
	if err != nil {
		return exitcode.Usagef("%s: folder %s is not writable: %v", flag, path, errors.Unwrap(err))
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// folder is a flag's directory. An empty path is an unset flag.
type folder struct{ flag, path string }

// checkSeparate returns a command line error if two flags name the same directory: the counterparty reads and
// writes some of these directories, and others hold private files.
func checkSeparate(folders ...folder) error {
	for i, one := range folders {
		for _, other := range folders[i+1:] {
			if one.path != "" && other.path != "" && sameFolder(one.path, other.path) {
				return exitcode.Usagef("%s: %s is the folder of %s; use another one",
					other.flag, other.path, one.flag)
			}
		}
	}
	return nil
}

// sameFolder reports whether two paths name the same directory. The directories may not exist.
func sameFolder(a, b string) bool {
	first, err := os.Stat(a)
	second, missing := os.Stat(b)
	if err == nil && missing == nil {
		return os.SameFile(first, second)
	}
	return resolve(a) == resolve(b)
}

// resolve returns the absolute path without symbolic links. Names that do not exist remain at the end.
func resolve(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolve(parent), filepath.Base(path))
}
