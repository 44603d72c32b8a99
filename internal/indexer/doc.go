// Package indexer keeps what the program has done in a SQL database: every event, what became of every negotiation, and the last
// state of every account. The database is a SQLite file or a PostgreSQL database; both hold the same, and the same views.
//
//	database, err := index.Open(ctx, "sqlite:haggle.db")
//	...
//	defer database.Close()
//	indexer, err := index.New(database, index.Config{RPC: client.RPC(), Commitment: rpc.CommitmentConfirmed})
//	...
//	err = indexer.Run(ctx)
//
// # How it reads
//
// The node lists the transactions that mention the program, the newest first. The checkpoint is a slot up to which everything is
// in the database and final. A look at the chain lists what is after it, reads what is new (logs, block, accounts) and writes rows
// and checkpoint in one database transaction: whenever the process is killed, nothing is lost and nothing is there twice. The list
// has to reach the last transaction at or before the checkpoint; a node that has thrown that one away is an error
// ([ErrHistoryGone]), not a gap. A history too long for one look is listed into the database page by page and then read from its
// oldest transaction on, so that a restart goes on where it was.
//
// # Forks
//
// Rows after the checkpoint may be of a fork. Each look compares them with the chain as it is now: the transactions of every slot,
// and, once a slot is final, its blockhash. At the first slot that differs it deletes all rows from there on and reads them again,
// in the same database transaction. The checkpoint follows 32 slots behind the chain's last final slot, because a node writes its
// lists a little later than its blocks. So
//
//   - rows of a slot up to the checkpoint never change;
//   - at commitment "finalized" rows are only ever added, except that a transaction that a node lists late goes to its place;
//   - at "confirmed" the newest rows, about 13 seconds' worth, can disappear and come differently. A row's slot says which they
//     are: slots.final is false;
//   - "processed" is refused, as everywhere in this project.
//
// # Amounts
//
// An amount has 64 bits without sign. No SQL integer has: amounts are NUMERIC(20, 0) in PostgreSQL and decimal TEXT in SQLite, and
// sums in views are exact in both.
package indexer
