// Package policy keeps an agent from spending what it was not meant to, whatever it has been talked into signing.
//
// A [Policy] is a haggle.Signer around another one. It takes the very bytes that it is asked to sign apart, down to the last one, and
// finds out what they would do to the wallet: what an instruction pays, to whom, for which negotiation, at what price. Whatever it
// does not understand completely it does not sign, and neither what goes beyond the limits of its [Config]. Everything that it refuses
// is a [*Denial].
//
//	store, err := policy.OpenFile("usage")
//	...
//	signer, err := policy.New(ctx, keypair, policy.Config{
//		Lamports:     policy.Limits{PerTransaction: 20_000_000, PerNegotiation: 10_000_000, PerDay: 100_000_000},
//		Tokens:       map[solana.PublicKey]policy.TokenLimits{usdc: {Limits: ..., MaxPrice: 4_000_000}},
//		Negotiations: policy.Reader(client),
//		Store:        store,
//	})
//	...
//	receipt, err := action.Do(ctx, signer)
//
// # What counts
//
// Money counts when it is committed: an escrow with create_negotiation, a bond with accept_invitation, a transfer, the rent of
// accounts, fees and priority fees. What comes back is not taken off. It counts before the signature leaves, and stays counted
// across restarts ([Store]). A message counts once however often it is signed, because the chain executes it once at most. What
// a transaction has not spent after all, because it has failed or expired, [Policy.Release] gives back on the chain's evidence.
//
// Prices are paid out of an escrow that has been counted, so they do not count again: they are limited by
// TokenLimits, for a buyer from above and for a seller from below, in offers, acceptances and revealed
// reservation prices. An agreement of both parties on another split (settle_by_agreement) is denied unless
// Config.Agreement allows its shares.
//
// # What the message does not say
//
// An offer does not name its mint, nor an acceptance of an invitation its bond. What the wallet has engaged
// in through the policy is on record. For the rest the policy reads the negotiation ([Negotiations]), and
// holds the answer to what the transaction itself depends on: the terms' hash of an invitation, created_at,
// the round of an offer, price and metadata of an acceptance, and the address, which follows from the parties
// and the session. A transaction that the chain would answer with StaleState is not signed.
//
// # What it does not protect from
//
// A policy limits what one wallet signs. Whoever has the key itself, or can write the store's file, is not bound by it. Within its
// limits an agent can still make bad deals. The clock that begins a new day is the machine's unless Config.Now is another. A
// wallet's associated token accounts are taken for its own; if their authority has been given away before, money goes there all the
// same.
package policy
