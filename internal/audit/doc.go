// Package audit keeps histories as chains of hashes, and finds changes of them. It is the audit log of every
// product of this repository.
//
// A chain is the history of one thing, such as a negotiation of the gateway or a conversation of HIRE. Its
// entries are numbered from 1. The hash of an entry covers its text and the preceding hash, so the last
// hash, the head, determines the whole chain. [Append] computes the links of new entries. A product
// stores them, and the new head beside the thing, in one transaction.
//
// A [Checkpointer] writes the heads of all chains to a file outside of the database, in checkpoints that an
// Ed25519 key signs. Each checkpoint contains the hash of its predecessor. [Verify] compares the database with
// the file. So an attacker with all rights in the database cannot change, remove or replace an entry that a
// checkpoint covers. [VerifyChain] checks an exported chain alone.
//
// Entries after the last checkpoint are not covered: [Report] counts them. Removing the last lines of the
// file is visible only to those who know how many it had: keep the sequence of a recent checkpoint elsewhere
// and give it to Verify.
package audit
