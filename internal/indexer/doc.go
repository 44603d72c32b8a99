// Package indexer keeps the program's history in a SQL database: every event, the outcome of every
// negotiation, and the last state of every account. The database is a SQLite file or a PostgreSQL database.
// Both hold the same data and have the same views.
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
// The node lists the transactions that mention the program, the newest first. The checkpoint is a slot up to
// which everything is in the database and final. A poll lists the transactions after it, reads the new ones
// (logs, block, accounts), and writes rows and checkpoint in one database transaction: after any end of the
// process, no row is missing and none is there twice. The list must contain the last transaction up to the
// checkpoint; if the node no longer lists it, Run returns [ErrHistoryGone] instead of leaving a gap. A
// backfill first lists a history that is too long for one poll into the database, page by page, and then
// reads it from its oldest transaction on. A restart continues it.
//
// # Forks
//
// Rows after the checkpoint can belong to a fork. Each poll compares them with the chain: the transactions of
// every slot and, once a slot is final, its blockhash. At the first different slot it deletes all rows from
// there on and reads them again, in the same database transaction. The checkpoint stays 32 slots behind the
// last final slot, because a node writes its lists a little later than its blocks. So
//
//   - rows of a slot up to the checkpoint never change;
//   - at commitment "finalized" rows are only added, except that a transaction that a node lists late is inserted
//     at its position;
//   - at "confirmed" the rows of slots with slots.final = false, about 13 seconds' worth, can be replaced;
//   - "processed" is rejected.
//
// # Truncated logs
//
// A validator truncates the logs of a transaction at 10,000 bytes, so a party can hide events behind other
// logs. The indexer then computes the events, as the program does, from the transaction's instructions, its
// transfers from the vault, and the negotiation's earlier events. They are marked as rebuilt. If an event
// cannot be known, a row LogsTruncated takes its place, and the negotiation is not complete.
//
// # Amounts
//
// An amount has 64 bits without sign. No SQL integer has: amounts are NUMERIC(20, 0) in PostgreSQL and
// decimal TEXT in SQLite, and sums in views are exact in both.
package indexer
