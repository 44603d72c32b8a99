package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/haggle-protocol/haggle/sdk/store/database"
)

// identify returns the identity of the file at a path. It never opens the file: closing it would release this
// process's SQLite locks.
func identify(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	links, err := linksOf(path, info)
	if err != nil {
		return nil, err
	}
	if links > 1 {
		return nil, fmt.Errorf("%w: %s has %d: use a file with one name", database.ErrHardLinks, path, links)
	}
	return info, nil
}

// file is an open file of SQLite.
type file struct {
	path string
	info fs.FileInfo
}

// suffixes are appended to a database path for the paths to all files: the database, the write-ahead log and
// the log's index.
var suffixes = []string{"", "-wal", "-shm"}

// files contains a database's open files. A process that opens a database with a missing or different log
// does not see this process's writes.
type files []file

func openFiles(path string) (files, error) {
	var all files
	for _, suffix := range suffixes {
		info, err := identify(path + suffix)
		if err != nil {
			return nil, err
		}
		all = append(all, file{path + suffix, info})
	}
	return all, nil
}

// check returns an error if a path no longer names the open file.
func (f files) check() error {
	for _, opened := range f {
		info, err := identify(opened.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: %s is missing: end all processes that use it, then restore it",
				database.ErrReplaced, opened.path)
		case err != nil:
			return err
		case !os.SameFile(info, opened.info):
			return fmt.Errorf("%w: %s is a different file: end all processes that use it, then restore it",
				database.ErrReplaced, opened.path)
		}
	}
	return nil
}
