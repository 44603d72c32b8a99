// Package indexer keeps the program's history in a SQL database: every event, each negotiation's outcome, and
// each account's last state. The database is a SQLite file or a PostgreSQL database. Both hold the same data
// and provide the same views.
//
//	database, err := indexer.Open(ctx, "sqlite:haggle.db")
//	...
//	defer database.Close()
//	x, err := indexer.New(database, indexer.Config{RPC: client.RPC(), Commitment: rpc.CommitmentConfirmed})
//	...
//	err = x.Run(ctx)
//
// # Polls
//
// The node lists the transactions that mention the program, newest first. The checkpoint is a slot.
// Everything up to and including it is in the database and final. A poll lists the transactions after it,
// reads the new transactions (logs, block, accounts), and writes rows and checkpoint in one database
// transaction: however the process ends, no row is missing or duplicated. The list must contain the last
// transaction at or before the checkpoint; if the node no longer lists it, Run returns [ErrHistoryGone]
// instead of leaving a gap. A backfill first lists a history too long for one poll into the database, page by
// page, and then reads it from the oldest transaction on. A restart continues it.
//
// # Forks
//
// Rows beyond the checkpoint can belong to a fork. Each poll compares them with the chain: every slot's
// transactions and, once a slot is final, the blockhash. At the first different slot it deletes all rows from
// there on and reads them again, in the same database transaction. The checkpoint stays 32 slots behind the
// newest final slot, because a node writes lists a little later than blocks. So
//
//   - rows of a slot up to the checkpoint never change;
//   - at commitment "finalized" rows are only added, except that a transaction that a node lists late is inserted
//     at its position;
//   - at "confirmed" the rows of slots with slots.final = false, about 13 seconds' worth, can be replaced;
//   - "processed" is rejected.
//
// # Truncated logs
//
// A validator truncates transaction logs at 10,000 bytes, so a party can hide events behind other logs. The
// indexer then computes the events, as the program does, from the transaction's instructions and vault
// transfers, and the negotiation's earlier events. They are marked as rebuilt. If an event cannot be
// computed, a row LogsTruncated replaces it, and the negotiation is not complete.
//
// # Amounts
//
// An amount is an unsigned 64-bit integer. SQL integers are signed: amounts are NUMERIC(20, 0) in PostgreSQL
// and decimal TEXT in SQLite, and sums in views are exact in both.
package indexer
