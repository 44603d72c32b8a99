// Package schema embeds the migrations of the state database.
package schema

import "embed"

// Files are goose migrations. The statements are valid in PostgreSQL and in SQLite. A released file is never
// changed: a change of the schema is a further file.
//
//go:embed *.sql
var Files embed.FS
