package indexer

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// readFolderEvery is how often the declarations directory is read.
const readFolderEvery = 5 * time.Second

// declarationFolder adds the declarations in a directory's files to a database. A nil declarationFolder adds
// none.
type declarationFolder struct {
	path     string
	database *Database
	logger   *slog.Logger
	last     time.Time
	// known holds the files already read, with their states then.
	known map[string]fileState
	// failure is the directory's last error, which is logged once.
	failure string
}

type fileState struct {
	size     int64
	modified time.Time
}

// read adds the declarations in new and changed files. It logs refused files, and returns database errors
// only.
func (f *declarationFolder) read(ctx context.Context) error {
	if f == nil || time.Since(f.last) < readFolderEvery {
		return nil
	}
	f.last = time.Now()
	entries, err := os.ReadDir(f.path)
	if err != nil {
		if f.failure != err.Error() {
			f.failure = err.Error()
			f.logger.WarnContext(ctx, "folder of declarations not read", "error", err)
		}
		return nil
	}
	f.failure = ""
	before := f.known
	f.known = make(map[string]fileState)
	for _, entry := range entries {
		info, err := entry.Info()
		isDeclaration := slices.Contains([]string{".json", ".jsonl"}, filepath.Ext(entry.Name()))
		// Other kinds of files, such as pipes, could block.
		if err != nil || !info.Mode().IsRegular() || !isDeclaration || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		state := fileState{info.Size(), info.ModTime()}
		if before[entry.Name()] != state {
			if err := f.readFile(ctx, filepath.Join(f.path, entry.Name())); err != nil {
				return err
			}
		}
		f.known[entry.Name()] = state
	}
	return nil
}

func (f *declarationFolder) readFile(ctx context.Context, path string) error {
	declarations, err := ReadDeclarationFile(path)
	if err != nil {
		f.logger.WarnContext(ctx, "file of declarations refused", "file", path, "error", err)
		return nil
	}
	result, err := f.database.Declare(ctx, declarations)
	if errors.Is(err, ErrDeclaration) {
		f.logger.WarnContext(ctx, "file of declarations refused", "file", path, "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	f.logger.InfoContext(ctx, "file of declarations read", "file", path, "added", result.Added,
		"unchanged", result.Unchanged)
	return nil
}
