// Command generate runs sqlc on the statements and on the schema of PostgreSQL.
package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/haggle-protocol/haggle/internal/gateway/store/schema"
)

func main() {
	log.SetFlags(0)
	if err := generate(".", "."); err != nil {
		log.Fatal(err)
	}
}

// generate runs sqlc on the statements in the folder from, and writes the Go files to the folder to. The
// working directory must be in the module.
func generate(from, to string) (err error) {
	work, err := os.MkdirTemp("", "sqlc")
	if err != nil {
		return err
	}
	defer func() {
		if removed := os.RemoveAll(work); err == nil {
			err = removed
		}
	}()
	migrations, err := schema.Migrations(true)
	if err != nil {
		return err
	}
	var tables strings.Builder
	for _, migration := range migrations {
		tables.WriteString(migration.SQL)
	}
	if err := os.WriteFile(filepath.Join(work, "schema.sql"), []byte(tables.String()), 0o600); err != nil {
		return err
	}
	if err := copyFiles(filepath.Join(from, "sqlc.yaml"), work); err != nil {
		return err
	}
	if err := copyFiles(filepath.Join(from, "*.sql"), filepath.Join(work, "queries")); err != nil {
		return err
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	sqlc := exec.Command(filepath.Join(strings.TrimSpace(string(root)), "toolchain", "sqlc"), "generate")
	sqlc.Dir, sqlc.Stderr = work, os.Stderr
	if err := sqlc.Run(); err != nil {
		return fmt.Errorf("sqlc: %w", err)
	}
	return copyFiles(filepath.Join(work, "generated", "*.go"), to)
}

// copyFiles copies the files of a pattern into a folder.
func copyFiles(pattern, to string) error {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, file := range found {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
