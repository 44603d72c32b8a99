// Package schema contains the migrations for an arena's database.
package schema

import (
	"embed"
	"io/fs"
)

// files are goose migrations. A released file is never changed: a change of the schema is a further file.
//
//go:embed *.sql
var files embed.FS

// Files returns the migrations. They are valid in both engines.
func Files(bool) fs.FS { return files }
