// Package store keeps the gateway's data in PostgreSQL or SQLite: publishers and their strategies, clients
// and their keys, negotiations, licence policies and the audit log.
//
// Each operation is one transaction; the caller decides on negotiations in the middle of it ([Unit]). An operation on
// a negotiation locks its row. If another transaction has the lock, the operation returns [ErrInProgress] and changes
// nothing. Terms, strategies and analyses are JSON that the store does not interpret, except that it copies the parts
// of a strategy with a column.
//
// Package queries has the fixed statements; sqlc checks them and generates the query functions of both
// databases. This package composes the statements that depend on arguments (optional filters, lists of ids)
// or on the dialect, and has those whose rows it streams.
//
// PostgreSQL is used through pgxpool and [pgx.Tx], SQLite through database/sql. Everything else is the same
// code: the two differ in column types, triggers and indexes (package schema), in row locks, and in the
// commit. PostgreSQL gets the writes of a transaction and COMMIT in one message.
package store
