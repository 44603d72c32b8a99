// Package queries contains a function for each statement in its .sql files. sqlc checks the statements against
// the schema and generates the functions: run `go generate ./internal/arena/store/queries`.
//
// The statements are in the dialect of PostgreSQL, and valid in SQLite.
package queries

//go:generate ../../../../toolchain/sqlc generate
