// Package store is the state database of agents, keepers and commands. One database contains the journal of
// transactions, the usage of spending limits, the expenses of keepers, sealed reservation prices, the records
// of purchases from several sellers ([Store.AuthorizePurchase]), and the pinned keys of agents that hire each
// other ([Store.HirePins]).
//
// Package sqlite opens a database for processes on a single machine, package postgres a database for several
// machines:
//
//	state, err := sqlite.Open(ctx, "/var/lib/agent/state.db")
//	...
//	defer state.Close()
//	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint, Journal: state})
//	...
//	signer, err := policy.New(ctx, keypair, policy.Config{Store: state, ...})
//
// The client writes each transaction to the journal before sending it, so a killed agent never repeats an
// action. The journal keeps finished transactions, with their outcomes, until [Store.ForgetEntries] removes
// them. Before acting, the client resolves every unfinished transaction with the same idempotency key or on
// the same negotiation: see [haggle.Client.Recover].
//
// A write is durable when the method returns nil. If a method returns an error, the write may have happened.
package store
