package policy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"github.com/haggle-protocol/haggle/sdk/internal/durable"
)

// File is a Store in a file to which lines are only ever appended: a checksum, and a record as JSON. OpenFile
// removes a line that was incomplete when the machine crashed: its signature was not returned. Any other
// damage is an error.
type File struct {
	path string

	lock    sync.Mutex
	file    *os.File
	inUse   *flock.Flock
	records []Record
	// broken is the error that prevents further appends: after a failed write the content of the file is
	// unknown.
	broken error
}

// DamagedFileError reports a change to a file with usage by anything but a File.
type DamagedFileError struct {
	// Path is the path of the file, and Line the number of the damaged line, from 1.
	Path string
	Line int
	// Reason describes the damage.
	Reason string
}

func (e *DamagedFileError) Error() string {
	return fmt.Sprintf("haggle: policy: %s: line %d: %s", e.Path, e.Line, e.Reason)
}

// ErrFileInUse reports that another process, or another File, has the file open.
var ErrFileInUse = errors.New("haggle: policy: usage file in use by another process")

// OpenFile opens a file with usage. If the file is missing, it creates one that only its owner can read. It
// returns ErrFileInUse if the file is open already, and a *DamagedFileError if it is damaged.
func OpenFile(path string) (*File, error) {
	// Two links to one file have the same lock.
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		resolved, err = filepath.Clean(path), nil
	}
	if err != nil {
		return nil, usageError(err)
	}
	// If the file cannot be locked, it is not opened: two processes would each miss the spending of the
	// other. The lock is a file of its own, because Replace replaces the file.
	lock := flock.New(resolved+".lock", flock.SetPermissions(0o600))
	if locked, err := lock.TryLock(); err != nil {
		return nil, usageError(err)
	} else if !locked {
		return nil, fmt.Errorf("%w: %s", ErrFileInUse, resolved)
	}
	f := &File{path: resolved, inUse: lock}
	if err := f.open(); err != nil {
		return nil, errors.Join(err, f.file.Close(), lock.Unlock())
	}
	return f, nil
}

// open opens the file, reads its records, and removes an incomplete last line.
func (f *File) open() (err error) {
	if f.file, err = openForAppending(f.path); err != nil {
		return usageError(err)
	}
	records, whole, broken, err := readLines(f.path, f.file)
	if err != nil {
		return err
	}
	f.records = records
	if broken {
		err = errors.Join(f.file.Truncate(whole), f.file.Sync())
	}
	return usageError(errors.Join(err, durable.SyncFolder(f.path)))
}

func usageError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("haggle: policy: usage: %w", err)
}

func openForAppending(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
}

// ReadFile reads the records of a file with usage, even while a File has it open: a line that is incomplete
// is left out. It returns a *DamagedFileError if the file is damaged.
func ReadFile(path string) ([]Record, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, usageError(err)
	}
	defer file.Close()
	records, _, _, err := readLines(path, file)
	return records, err
}

// readLines reads records. It returns the length of their complete lines in bytes, and whether an incomplete
// last line follows.
func readLines(path string, source io.Reader) (records []Record, whole int64, broken bool, err error) {
	reader := bufio.NewReader(source)
	for number := 1; ; number++ {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return records, whole, false, nil
		}
		if err != nil && err != io.EOF {
			return nil, 0, false, usageError(err)
		}
		record, reason := parseLine(line)
		if reason == "" {
			whole += int64(len(line))
			records = append(records, record)
			continue
		}
		if _, err := reader.Peek(1); err != io.EOF {
			return nil, 0, false, &DamagedFileError{Path: path, Line: number, Reason: reason}
		}
		return records, whole, true, nil
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumSize is the length of the checksum at the beginning of a line, with the space behind it.
const checksumSize = 9

func formatLine(record Record) ([]byte, error) {
	content, err := json.Marshal(record)
	return checked(content), usageError(err)
}

// checked returns a line with this content.
func checked(content []byte) []byte {
	return fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(content, castagnoli), content)
}

func parseLine(line []byte) (record Record, reason string) {
	content, ends := bytes.CutSuffix(line[min(len(line), checksumSize):], []byte("\n"))
	if !ends {
		return record, "it does not end"
	}
	if !bytes.Equal(line, checked(content)) {
		return record, "wrong checksum"
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&record); err != nil {
		return record, err.Error()
	}
	return record, ""
}

// Records returns all records that the file had when it was opened.
func (f *File) Records(context.Context) iter.Seq2[Record, error] {
	f.lock.Lock()
	defer f.lock.Unlock()
	return sequence(f.records)
}

// Append writes a record and waits until the disk has it.
func (f *File) Append(_ context.Context, record Record) error {
	return f.write(record, func(line []byte) error {
		_, err := f.file.Write(line)
		if err == nil {
			err = f.file.Sync()
		}
		return f.breakOn(err)
	})
}

// Replace replaces all records by one. The new file is complete on disk before it replaces the old one.
func (f *File) Replace(_ context.Context, record Record) error {
	return f.write(record, func(line []byte) error {
		if err := renameio.WriteFile(f.path, line, 0o600); err != nil {
			return usageError(err)
		}
		next, err := openForAppending(f.path)
		if err != nil {
			return f.breakOn(err) // the path names another file than the open one
		}
		old := f.file
		f.file = next
		return errors.Join(durable.SyncFolder(f.path), old.Close())
	})
}

func (f *File) write(record Record, write func(line []byte) error) error {
	line, err := formatLine(record)
	if err != nil {
		return err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.broken != nil {
		return f.broken
	}
	f.records = nil // they have been read, or never will be
	return write(line)
}

// breakOn prevents further writes after an error.
func (f *File) breakOn(err error) error {
	if err != nil {
		f.broken = fmt.Errorf("%s: not writable until it is reopened: %w", f.path, err)
	}
	return f.broken
}

// Close closes the file and unlocks it.
func (f *File) Close() error {
	f.lock.Lock()
	defer f.lock.Unlock()
	if errors.Is(f.broken, os.ErrClosed) {
		return nil
	}
	f.broken = errors.Join(f.broken, fmt.Errorf("%s: %w", f.path, os.ErrClosed))
	return errors.Join(f.file.Close(), f.inUse.Unlock())
}
