// Package journal records in a database which transactions a wallet has sent, so that an agent that is killed
// never repeats an action. Packages journal/sqlite and journal/postgres open a [Database]:
//
//	store, err := sqlite.Open("/var/lib/agent/journal.db")
//	...
//	defer store.Close()
//	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint, Journal: store})
//
// Each transaction is in the database, and the database on the disk, before the client sends it. Before it
// executes an action, the client resolves every unfinished transaction with the same idempotency key or on the
// same negotiation; see [haggle.Client.Recover]. A confirmed key is kept until [Database.Forget] removes it.
//
// Processes on one machine can share a SQLite database, and processes on several machines a PostgreSQL
// database.
package journal
