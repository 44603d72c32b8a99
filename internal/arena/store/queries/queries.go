// Package queries contains a function for each statement in the .sql files. sqlc checks the statements
// against the schema and generates the functions: run `go generate ./internal/arena/store/queries`.
//
// The statements use the PostgreSQL dialect, and are valid in SQLite.
package queries

//go:generate ../../../../toolchain/sqlc generate
