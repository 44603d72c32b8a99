// Package policy limits what a wallet signs.
//
// A [Policy] is a haggle.Signer that wraps another signer. It decodes each message to the last byte: what an
// instruction pays, to whom, for which negotiation, at what price. It refuses messages that it cannot decode
// fully or that exceed a [Config] limit. A refusal is a [*Denial].
//
//	state, err := sqlite.Open(ctx, "state.db") // package store/sqlite
//	...
//	signer, err := policy.New(ctx, keypair, policy.Config{
//		Lamports:     policy.Limits{PerTransaction: 20_000_000, PerNegotiation: 10_000_000, PerDay: 100_000_000},
//		Tokens:       map[solana.PublicKey]policy.TokenLimits{usdc: {Limits: ..., MaxTotal: 4_000_000}},
//		Negotiations: policy.Reader(client),
//		Evidence:     policy.EvidenceOf(client),
//		Store:        state,
//	})
//	...
//	receipt, err := action.Do(ctx, signer)
//
// # Usage
//
// Money counts when the wallet commits it: an escrow with create_negotiation, a bond with accept_invitation,
// a transfer, the rent of accounts, fees. Refunds are not subtracted. Money counts before the signature is
// returned, and across restarts ([Store]).
//
// The policy counts intents ([Digest]), not messages. A retry with a new blockhash or later deadlines is the
// same intent and counts once, but each message's fee counts. Messages that the chain can execute several
// times, such as transfers, count each. The policy gives back an expired message's spends, and a failed
// message's spends except the fee, only if [Config].Evidence proves the outcome. The SDK notifies it of final
// outcomes ([Policy.ObserveOutcome]) and does not state them. Before a limit denies signing, the policy looks
// up open outcomes itself ([Policy.Reconcile]). If the signer failed but may have signed, the policy searches
// the wallet's transactions for the message after five minutes, when the message is no longer executable.
//
// An approval ([Config].Approve) covers all message instructions, spends and prices. It is valid for 24 hours
// for messages of the same intent with the same effects, also with a new blockhash, later deadlines and lower
// fees. Any other effect, or a higher fee, needs a new approval.
//
// All policies for a wallet using the same [Store] share usage, even across processes.
//
// Daily totals are dropped when the day is over, and negotiation totals when the negotiation must be over
// (two days after the wallet engaged, or 15 days after the milestone deadline). Counterparty totals stay.
//
// Prices are paid from counted escrows, so they are limited by TokenLimits only: for a buyer from above, for
// a seller from below, in offers, acceptances and commitments. A [Band] limits them from both sides. A price
// that the wallet committed to is revealed unchecked: a withheld reveal costs the bond. Agreeing on a
// different split (settle_by_agreement) is denied unless Config.Agreement allows the shares.
//
// When the wallet creates or joins a negotiation, [TermLimits] limit decay, rounds, response window and fee,
// by default to the constants of package protocol.
//
// # Facts that are not in the message
//
// An offer does not name the mint, and accepting an invitation does not name the bond. Negotiations that the
// wallet created or joined through the policy are on record. For others the policy reads the account
// ([Negotiations]) and compares it with the transaction: an invitation's terms hash, created_at, an offer's
// round, an acceptance's price and metadata, and the address. Messages that would fail on chain with
// StaleState are denied.
//
// # Limits of the protection
//
// A policy does not bind processes that hold the key or can write the store's database. Within the limits an
// agent can make bad deals. Days begin by the machine's clock, or by Config.Now. The wallet's associated
// token accounts count as the wallet's own, even if their authority was given away before.
package policy
