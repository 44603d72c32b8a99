package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
)

// checkFolder returns an error of the command line unless files can be written to the folder of a flag.
// [fs.ErrNotExist] matches that of a missing folder. An empty path is no error.
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
