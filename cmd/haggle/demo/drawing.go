package demo

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/haggle-protocol/haggle/internal/cli/demo"
)

// drawing is the plot file. It is created before the run, to fail at once if the path is not writable, and
// renamed when complete, to keep an older plot if the run fails. A nil drawing writes nothing.
type drawing struct {
	path  string
	file  *os.File
	drawn bool
}

func openDrawing(path string) (*drawing, error) {
	if path == "" {
		return nil, nil
	}
	// The rename would replace a link or a device.
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "create", Path: path, Err: errors.New("exists and is not a regular file")}
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".haggle-*.svg")
	if err != nil {
		return nil, err
	}
	return &drawing{path: path, file: file}, nil
}

func (d *drawing) draw(a *demo.Account) error {
	if d == nil {
		return nil
	}
	if err := plot(d.file, a); err != nil {
		return err
	}
	d.drawn = true
	return d.file.Chmod(0o644)
}

// finish renames a complete plot and deletes an incomplete one.
func (d *drawing) finish() error {
	if d == nil {
		return nil
	}
	if err := d.file.Close(); err != nil || !d.drawn {
		return errors.Join(err, os.Remove(d.file.Name()))
	}
	return os.Rename(d.file.Name(), d.path)
}
