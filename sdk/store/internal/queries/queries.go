// Package queries contains a function for each statement in the .sql files. sqlc checks the statements
// against the schema and generates the functions: run `go generate ./sdk/store/internal/queries`.
//
// The statements use PostgreSQL's dialect and are valid in SQLite.
package queries

//go:generate ../../../../toolchain/sqlc generate
