// Package policy limits what a wallet signs.
//
// A [Policy] is a haggle.Signer around another one. It decodes each message to the last byte: what an
// instruction pays, to whom, for which negotiation, at what price. It refuses messages that it cannot decode
// fully or that exceed a limit of its [Config]. A refusal is a [*Denial].
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
// a transfer, the rent of accounts, fees. Refunds do not reduce it. It counts before the signature is
// returned, and across restarts ([Store]).
//
// The policy counts intents ([Digest]), not messages. A retry with a new blockhash or later deadlines is
// the same intent and counts once, except for its fee. Messages that the chain can execute several times,
// such as transfers, count each. The policy gives back the spends of an expired message, and those of a
// failed one except its fee, on the proof of [Config].Evidence only. The SDK notifies it of final outcomes
// ([Policy.ObserveOutcome]) and does not state them. Before a limit denies a message, the policy looks up
// open outcomes itself ([Policy.Reconcile]). If the signer failed and a signature may exist, the policy
// searches the wallet's transactions for the message from five minutes on, when it can no longer be
// executed.
//
// An approval ([Config].Approve) covers all instructions, spends and prices of a message. It holds for 24
// hours for messages of the same intent with the same effects, also with a new blockhash, later deadlines
// and lower fees. Any other effect, or a higher fee, needs a new approval.
//
// All policies of a wallet on one [Store] share its usage, in one process or in several.
//
// Totals per day are dropped when the day is over, those of a negotiation when it is over at the latest (two
// days after the wallet engaged in it, or 15 days after its milestone deadline). Totals of a counterparty
// stay.
//
// Prices are paid out of an escrow that was counted, so they are limited by TokenLimits only: for a buyer
// from above, for a seller from below, in offers, acceptances and commitments. A [Band] limits them from both
// sides. A price that the wallet committed to is revealed without another check, because a withheld reveal
// costs the bond. An agreement of both parties on another split (settle_by_agreement) is denied unless
// Config.Agreement allows its shares.
//
// Decay, rounds, response window and fee of a negotiation that the wallet creates or joins are limited by
// [TermLimits], by default to the constants of package protocol.
//
// # Facts that are not in the message
//
// An offer does not name its mint, nor an acceptance of an invitation its bond. Negotiations that the wallet
// created or joined through the policy are on record. For others the policy reads the account
// ([Negotiations]) and compares it with the transaction: the terms hash of an invitation, created_at, the
// round of an offer, price and metadata of an acceptance, and the address. It denies messages that the chain
// would answer with StaleState.
//
// # Limits of the protection
//
// A policy does not bind a process that has the key itself or can write the store's database. Within the limits
// an agent can make bad deals. Days begin by the machine's clock, or by Config.Now. The wallet's associated
// token accounts count as its own, also if their authority was given away before.
package policy
