// Package bargain is an engine for automated negotiation: domains, preferences, strategies and protocols.
// It imports no Solana, does no input or output, and is deterministic: the same seed gives the same offers on
// every machine.
//
//	domain, _ := bargain.NewDomain(bargain.Price("price", 100, 200, 1))
//	cheap, _ := utility.PriceLine(domain, false)
//	dear, _ := utility.PriceLine(domain, true)
//	buyer, _ := bargain.NewPreferences(domain, cheap, 0)
//	seller, _ := bargain.NewPreferences(domain, dear, 0)
//	result, err := mechanism.Alternating{Steps: 50}.Run(1,
//		mechanism.Party{Strategy: strategy.NegmasBoulware(), Preferences: buyer},
//		mechanism.Party{Strategy: strategy.NegmasConceder(), Preferences: seller})
//
// # Architecture
//
// This package defines the shared types:
//
//   - A [Domain] is a list of issues. An [Outcome] is a number: the index of a value combination. It is
//     comparable, needs no memory, and is the same for all parties.
//   - [Preferences] hold a party's side: [Utility], reservation value, discount. They are immutable and can
//     be shared by any number of sessions and goroutines. [Preferences.Inverse] finds outcomes by utility.
//   - A [Strategy] is an immutable value, a description. [Strategy.Start] makes a session's
//     [Negotiator] from a [Seat]. Only the negotiator has state, used by a single session.
//   - A protocol in package mechanism calls negotiators with a [State] and returns a [Result].
//   - A [Course] plays a single party in a protocol that runs elsewhere, round by round: on chain, or with a
//     gateway. It makes the states there.
//
// Subpackages:
//
//	fixed       the numbers: decimals in an int64, with powers, exponentials and logarithms
//	utility     linear additive, table and hyper-rectangle utilities
//	curve       concession curves over time, tabulated per deadline
//	bidding     which outcome to offer next
//	acceptance  which offer to accept
//	opponent    models that estimate the opponent's utility from past offers
//	strategy    compositions of these three (BOA), and named strategies from GENIUS, NegMAS and Faratin
//	mechanism   protocols: (stacked) alternating offers, single-text mediation
//	scenario    reads and writes GENIUS XML and NegMAS JSON and YAML
//	onchain     Haggle's rules as a protocol; the only package that imports sdk/protocol
//	solution    axiomatic solutions: Pareto frontier, Nash, Kalai, Kalai-Smorodinsky, distances to them
//	game        subgame perfect equilibria: Rubinstein's game and Haggle's rules, with an optimal player
//	analysis    steps, concessions and fitted strategies for recorded offers; for reports only
//	proof       commitments to strategies, and the replay of their moves
//	terms       documents for outcomes over several issues; offers carry the hashes
//	tournament  every strategy against every other over many scenarios
//
// # Inverses
//
// [Preferences.Inverse] selects the inverse by the utility and the number of outcomes. Every kind is in a
// separate file:
//
//	utility                               outcomes    file                  method
//	one monotone issue, such as a price   any         inverse_line.go       a search, no memory
//	additive, several issues              up to 2^20  inverse_additive.go   two lists of combinations; sorts
//	                                                                        the best outcomes as needed
//	additive, several issues              more        inverse_large.go      two lists of pairs; longer ones for
//	                                                                        the order
//	every other, such as a table          up to 2^20  inverse_general.go    chains of outcomes with similar
//	                                                                        utilities; sorts as needed
//	every other, bounds unknown           up to 2^20  inverse_general.go    sorts all outcomes
//	every other                           more        inverse_general.go    sorts a sample
//	of [Preferences.AsNegmas]             up to 2^20  inverse_negmas.go     sorts as NegMAS
//
// Additive utilities with a range too wide for the keys of inverse_additive.go use inverse_large.go.
//
// # Invariants
//
//   - Floats decide only NegMAS' order of ties. Otherwise only package analysis uses floats, and no other
//     package imports it. All values are [fixed.Number] or integers, and all randomness comes from [Random],
//     with a stream defined here. No decision depends on Go's map iteration order.
//   - Strategies never bid below the reservation value. Exceptions are documented in their package.
//   - A round allocates nothing, except in strategies that document it, and except for tables and cursors.
//     Tables are built once for all sessions with the same preferences: when a session starts, or in the
//     round that first needs them. Tables that save no time in a single session are built by the second
//     session: see [Preferences.IsReused].
//   - Equal utilities are ordered by outcome number, the lower first, so ties never depend on a sort's
//     internals. [Preferences.AsNegmas] uses NegMAS' order, which does, and is decided by floats.
//
// # Limits and pitfalls
//
//   - A domain has at most 2^64-1 outcomes: a larger one is an error. Real-valued issues are grids.
//   - The inverse costs little to build if the utility is additive: it sorts combinations over some of the
//     issues. Up to 2^20 outcomes, it sorts more of the best outcomes as queries cost more, and all for
//     Within and Ascend. If the utility range times the number of outcomes is too large for 63 bits,
//     never the case for products up to 4,600,000, Descend sorts all outcomes, too. For other utilities it
//     reads all outcomes first, and sorts them by the same rule, or at once if the utility is not [Bounded].
//   - The inverse is exact for a single monotone issue of any size, for up to 2^20 outcomes under any utility,
//     and for linear additive utilities with issues that divide into lists with up to 2^18 and 2^16
//     combinations, such as 10^9. Beyond that it searches a sample, or scales some issues, and [Inverse.Exact]
//     reports false.
//   - Discounting changes an agreement's value, not the outcome order. Strategies decide by undiscounted
//     utilities, as in GENIUS; NegMAS' negotiators decide by discounted utilities, as with
//     [Preferences.AsNegmas]. [Preferences.ValueAt] is the discounted value.
//   - Reservation values above the best utility are legal: such a party ends the session.
//   - Utilities need not lie in [0, 1], but must lie in +-[MaxUtility], so that their differences and sums
//     over up to four cannot overflow.
package bargain
