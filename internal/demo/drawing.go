package demo

import (
	"errors"
	"os"
	"path/filepath"
)

// drawing is the file of the plot. It is begun before the run, so that a path where nothing can be written is known at once, and
// takes its name when it is complete, so that a run that fails leaves an older drawing as it was. A nil drawing is none.
type drawing struct {
	path  string
	file  *os.File
	drawn bool
}

func openDrawing(path string) (*drawing, error) {
	if path == "" {
		return nil, nil
	}
	// A link or a device would be replaced by the new name, not written to.
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "create", Path: path, Err: errors.New("is there and is not a regular file")}
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".haggle-*.svg")
	if err != nil {
		return nil, err
	}
	return &drawing{path: path, file: file}, nil
}

func (d *drawing) draw(a *account) error {
	if d == nil {
		return nil
	}
	if err := plot(d.file, a); err != nil {
		return err
	}
	d.drawn = true
	return d.file.Chmod(0o644)
}

// finish gives a complete drawing its name and removes any other.
func (d *drawing) finish() error {
	if d == nil {
		return nil
	}
	if err := d.file.Close(); err != nil || !d.drawn {
		return errors.Join(err, os.Remove(d.file.Name()))
	}
	return os.Rename(d.file.Name(), d.path)
}
