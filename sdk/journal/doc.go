// Package journal remembers in a file what a wallet has sent, so that an agent that is killed never does anything twice:
//
//	book, err := journal.Open("/var/lib/agent/journal")
//	...
//	defer book.Close()
//	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint, Journal: book})
//
// From then on every transaction is in the file, and the file on the disk, before the transaction is sent; and before a new one is
// sent, it is found out what has become of those that were left unfinished: see [haggle.Client.Recover].
//
// The file is only ever appended to. A record is its length, the length's checksum, its content as JSON, and the content's checksum
// (CRC-32C). A record that a crash has cut off at the end of the file is removed by Open: nothing has been sent for it. Whatever
// else does not have its checksum is [haggle.ErrJournalDamaged], with the place. What is finished is removed from time to time, by
// writing what is not into a new file that takes the old one's place. One process at a time can use the file: another one's Open is
// [haggle.ErrJournalLocked].
package journal
