// Package audit keeps histories as hash chains and detects changes. It is the audit log of every product in
// this repository.
//
// A chain is one object's history, such as a gateway negotiation or a HIRE conversation. Entries are numbered
// from 1. An entry's hash covers the entry text and the preceding hash, so the last hash, the head,
// determines the whole chain. [Append] computes the links for new entries. A product stores the links and, in
// the same transaction, the new head beside the object.
//
// A [Checkpointer] writes the heads of all chains to a file outside of the database, in checkpoints signed
// with an Ed25519 key. Each checkpoint contains the previous checkpoint's hash. [Verify] compares the
// database with the file, so not even an attacker with all rights in the database can change, remove or
// replace an entry covered by a checkpoint. [VerifyChain] checks an exported chain alone.
//
// Entries after the last checkpoint are not covered: [Report] counts them. Removing the last lines of the
// file is visible only to those who know how many it had: keep a recent checkpoint's sequence elsewhere and
// pass it to Verify.
package audit
