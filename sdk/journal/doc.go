// Package journal records in a file which transactions a wallet has sent, so that an agent that is killed
// never repeats an action:
//
//	file, err := journal.Open("/var/lib/agent/journal")
//	...
//	defer file.Close()
//	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint, Journal: file})
//
// Each transaction is in the file, and the file on the disk, before the client sends it. Before it executes
// an action, the client resolves every unfinished transaction with the same idempotency key or on the same
// negotiation; see [haggle.Client.Recover]. A confirmed key is kept until [File.Forget] removes it.
//
// Records are only ever appended to the file. A record is its length, the length's checksum, its content as
// JSON, and the content's checksum (CRC-32C). Open removes a record that a crash has cut off at the end of
// the file: nothing was sent for it. For any other record with a wrong checksum it returns
// [ErrDamaged] with the record's place. From time to time a file without the finished
// transactions replaces it.
//
// One process at a time can use the file: Open in another one returns [ErrLocked]. Processes
// that act for one wallet at once share a database: package journal/sqlite on one machine, package
// journal/postgres on several.
package journal
