package localnet

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// findProgram returns the absolute path of the program's ELF file: the given path, or the file in the
// checkout. An ELF in the package's own binary would be the next source.
func (c checkout) findProgram(given string) (string, error) {
	path, remedy := given, "set Options.Program to the path of the program's ELF file"
	switch {
	case given != "":
	case c != "":
		path = filepath.Join(string(c), "program", "target", "deploy", "haggle.so")
		remedy = "build it with: make program"
	default:
		return "", fmt.Errorf("program not found: %s; \"make program\" in a checkout of %s builds it",
			remedy, modulePath)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("program not found: %w; %s", err, remedy)
	}
	if err != nil {
		return "", fmt.Errorf("program: %w", err)
	}
	if !bytes.HasPrefix(content, []byte("\x7fELF")) {
		return "", fmt.Errorf("program: %s is not an ELF file", path)
	}
	return path, nil
}
