// Package store is the state database of agents, keepers and commands. One database contains the usage of
// spending limits.
//
// Package sqlite opens a database for the processes of one machine, package postgres one for several machines:
//
//	state, err := sqlite.Open(ctx, "/var/lib/agent/state.db")
//	...
//	defer state.Close()
//	signer, err := policy.New(ctx, keypair, policy.Config{Store: state, ...})
//
// A write is durable when its method returns nil. If a method returns an error, the write may have happened.
package store
