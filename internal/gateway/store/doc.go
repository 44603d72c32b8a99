// Package store keeps the gateway's data in PostgreSQL or SQLite: publishers and their strategies, clients
// and their keys, negotiations, licenses and the audit log.
//
// Each operation is a single transaction; the caller decides on negotiations in between ([Unit]). An
// operation on a negotiation locks the row. If another transaction holds the lock, the operation returns
// [ErrInProgress] and changes nothing. Terms, strategies and analyses are JSON that the store does not
// interpret, except that it copies strategy parts that have a column.
//
// Package queries contains the fixed statements; sqlc checks them and generates the query functions of both
// databases. This package composes the statements that depend on arguments (optional filters, lists of ids),
// depend on the dialect, or stream rows.
//
// PostgreSQL is used through pgxpool and [pgx.Tx], SQLite through database/sql. All other code is shared: the
// two differ in column types, triggers and indexes (package schema), in row locks, and in the commit.
// PostgreSQL gets a transaction's writes and COMMIT in a single message.
package store
