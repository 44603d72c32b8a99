// Package journal records in a file which transactions a wallet has sent, so that an agent that is killed never does anything
// twice:
//
//	file, err := journal.Open("/var/lib/agent/journal")
//	...
//	defer file.Close()
//	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint, Journal: file})
//
// Each transaction is in the file, and the file on the disk, before the transaction is sent. Before an action is carried out, the
// outcome of every unfinished transaction with the same idempotency key or on the same negotiation is found out; see
// [haggle.Client.Recover]. A confirmed key is kept until [File.Forget] removes it.
//
// The file is only ever appended to. A record is its length, the length's checksum, its content as JSON, and the content's checksum
// (CRC-32C). Open removes a record that a crash has cut off at the end of the file: nothing was sent for it. Any other record with a
// wrong checksum is [haggle.ErrJournalDamaged], with its place. From time to time the file is replaced by one without the
// transactions that are finished.
//
// One process at a time can use the file: Open in another one returns [haggle.ErrJournalLocked]. Processes
// that act for one wallet at once share a database: package journal/sqlite on one machine, package
// journal/postgres on several.
package journal
