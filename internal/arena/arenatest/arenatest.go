// Package arenatest provides the keys and the market that the arena's tests use.
package arenatest

import (
	"crypto/ed25519"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

// Operator and Resolver seed the keys of the market's operator and resolver.
const (
	Operator byte = 100
	Resolver byte = 101
)

// Key returns a seed's key.
func Key(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(slices.Repeat([]byte{seed}, ed25519.SeedSize))
}

// ID returns the id of the agent with the key derived from seed.
func ID(seed byte) string { return arena.AddressOf(Key(seed)) }

// Config returns a market that is open for an hour. Each agent gets 100.00.
func Config(market string, opens time.Time) arena.Config {
	return arena.Config{
		Market: market, Question: "50,000 likes?", Opens: opens, Closes: opens.Add(time.Hour), Operator: ID(Operator),
		Resolver: ID(Resolver), Grant: 100 * arena.SetPrice, Seed: [32]byte{1, 2, 3},
	}
}
