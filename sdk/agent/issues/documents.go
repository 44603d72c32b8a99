package issues

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"

	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
)

// Documents is a channel for small files. The content is not trusted: a player checks each document against
// the on-chain hash.
type Documents interface {
	// Put stores a text under a name of up to 160 letters, digits and the characters "-.".
	Put(ctx context.Context, name string, text []byte) error
	// Get returns a text; nil if there is none with this name.
	Get(ctx context.Context, name string) ([]byte, error)
}

// Folder is a channel in a directory, with a file for each text.
type Folder struct {
	// Path is the directory. Put creates it.
	Path string
	// Private makes files that only their owner can read.
	Private bool
}

// Put implements [Documents]. The file appears when it is complete.
func (f Folder) Put(_ context.Context, name string, text []byte) error {
	folder, file := fs.FileMode(0o755), fs.FileMode(0o644)
	if f.Private {
		folder, file = 0o700, 0o600
	}
	if err := os.MkdirAll(f.Path, folder); err != nil {
		return err
	}
	return renameio.WriteFile(filepath.Join(f.Path, name), text, file, renameio.WithTempDir(f.Path))
}

// Get implements [Documents]. If a file is too large for a document, it returns the beginning. It returns an
// error if name is no regular file, and never waits for a named pipe's writer.
func (f Folder) Get(_ context.Context, name string) ([]byte, error) {
	file, err := os.OpenFile(filepath.Join(f.Path, name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", file.Name())
	}
	text, err := io.ReadAll(io.LimitReader(file, terms.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	return text, nil
}

// documentName returns a shared document's name, given the hash.
func documentName(hash [32]byte) string { return hex.EncodeToString(hash[:]) + ".json" }
