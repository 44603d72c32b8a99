// Package ledger is an in-process Solana chain: slots, blocks, blockhashes, statuses, history and a clock
// around package engine, which executes the transactions.
//
// [New] returns a ledger with one open block. [Ledger.Send] executes a transaction in the open block, and
// [Ledger.NextBlock] closes that block: the transactions are confirmed then, and finalized 32 blocks later. A
// ledger never advances by itself; package jsonrpc closes blocks periodically. [Ledger.AdvanceTo] moves the
// clock, and [Ledger.Snapshot] and [Ledger.Restore] return to a prepared ledger.
//
// It differs from a cluster: one node executes the transactions sequentially, without votes, forks, skipped
// slots, rent collection or rewards. The epoch always has 432,000 slots, and block heights equal slots. A
// simulation runs on the newest accounts, whatever the commitment.
package ledger
