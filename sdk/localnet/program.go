package localnet

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
)

// embeddedProgram is the file that "make program" builds. "make verify" proves that it is the sources'.
//
//go:embed haggle.so
var embeddedProgram []byte

// Program returns a copy of the program's ELF file that is part of this package: the same file as in on-chain
// deployments of this release.
func Program() []byte { return bytes.Clone(embeddedProgram) }

// readProgram returns the ELF file at a path, or the embedded one if the path is empty.
func readProgram(path string) ([]byte, error) {
	if path == "" {
		return embeddedProgram, nil
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("program not found: %w; set Options.Program to the path of an ELF file, or to \"\" "+
			"for the program in this package", err)
	}
	if err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	if !bytes.HasPrefix(content, []byte("\x7fELF")) {
		return nil, fmt.Errorf("program: %s is not an ELF file", path)
	}
	return content, nil
}
