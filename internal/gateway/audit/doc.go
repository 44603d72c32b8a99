// Package audit keeps the history of each negotiation as a chain of hashes, and finds changes of it.
//
// The entries of a negotiation are numbered from 1. The hash of an entry covers its text and the hash of the
// entry before it, so the last hash, the head, determines the whole chain. A [Checkpointer] writes the heads
// of all chains to a file outside of the database, in checkpoints that an Ed25519 key signs. Each checkpoint
// has the hash of the one before it. [Verify] compares the database with the file. So an attacker with all
// rights in the database cannot change, remove or replace an entry that a checkpoint covers.
//
// Entries after the last checkpoint are not covered: [Report] counts them. Removing the last lines of the
// file is visible only to those who know how many it had: keep the sequence of a recent checkpoint elsewhere
// and give it to Verify.
package audit
