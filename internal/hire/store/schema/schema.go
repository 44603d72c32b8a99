// Package schema contains the migrations for a home's database.
package schema

import (
	"embed"
	"io/fs"
	"slices"
)

// files are goose migrations. A released file is never changed: a change of the schema is a further file.
//
//go:embed *.sql sqlite/*.sql postgres/*.sql
var files embed.FS

// Files returns the migrations for an engine: the shared and the engine's own.
func Files(postgres bool) fs.FS {
	directory := "sqlite"
	if postgres {
		directory = "postgres"
	}
	own, err := fs.Sub(files, directory)
	if err != nil {
		panic(err) // the name is valid
	}
	return union{files, own}
}

// union merges two file systems.
type union [2]fs.FS

// Open opens a file of the first file system, or else of the second one.
func (u union) Open(name string) (fs.File, error) {
	if file, err := u[0].Open(name); err == nil {
		return file, nil
	}
	return u[1].Open(name)
}

// Glob implements [fs.GlobFS].
func (u union) Glob(pattern string) (names []string, err error) {
	for _, part := range u {
		found, err := fs.Glob(part, pattern)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	return names, nil
}
