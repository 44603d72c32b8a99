package database_test

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/haggle-protocol/haggle/sdk/store/database"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// A program keeps private tables in a SQLite file.
func Example() {
	ctx := context.Background()
	directory, err := os.MkdirTemp("", "notes")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(directory)
	opened, err := sqlite.OpenFile(ctx, filepath.Join(directory, "notes.db"), database.Schema{
		Kind: "notes", VersionTable: "notes_version", Readers: 2,
		Migrations: func(bool) fs.FS {
			return fstest.MapFS{"00001_notes.sql": {Data: []byte(`-- +goose Up
				CREATE TABLE notes (text TEXT NOT NULL);`)}}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer opened.Close()

	tx, err := opened.Begin(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer tx.Cancel()
	if _, err := tx.ExecContext(ctx, `INSERT INTO notes (text) VALUES ($1)`, "hire a designer"); err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}
	var text string
	if err := opened.Reader.QueryRowContext(ctx, `SELECT text FROM notes`).Scan(&text); err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
	// Output: hire a designer
}
