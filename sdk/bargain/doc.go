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
// The types here are what the other packages share:
//
//   - A [Domain] is a list of issues. An [Outcome] is one number: the index of a combination of values. It is
//     comparable, needs no memory, and is the same for all parties.
//   - [Preferences] are a party's side: [Utility], reservation value, discount. They are immutable and are
//     shared by any number of sessions and goroutines. [Preferences.Inverse] finds outcomes by utility.
//   - A [Strategy] is an immutable value, a description. [Strategy.Start] makes the [Negotiator] of one
//     session from a [Seat]. Only the negotiator has state, and only its session uses it.
//   - A protocol in package mechanism calls negotiators with a [State] and returns a [Result].
//   - A [Course] is one party's part of a protocol that runs elsewhere, round by round: on chain, or with a
//     gateway. It makes the states there.
//
// The packages below it:
//
//	fixed       the numbers: decimals in an int64, with powers, exponentials and logarithms
//	utility     linear additive, table and hyper-rectangle utilities
//	curve       concession curves over time, tabulated per deadline
//	bidding     which outcome to offer next
//	acceptance  which offer to accept
//	opponent    models that estimate the other party's utility from its offers
//	strategy    the composition of these three (BOA), and named strategies of GENIUS, NegMAS and Faratin
//	mechanism   protocols: (stacked) alternating offers, single-text mediation
//	scenario    reads and writes GENIUS XML and NegMAS JSON and YAML
//	onchain     Haggle's rules as a protocol; the only package that imports sdk/protocol
//	solution    axiomatic solutions: Pareto frontier, Nash, Kalai, Kalai-Smorodinsky, distances to them
//	game        subgame perfect equilibria: Rubinstein's game and that of Haggle's rules, with its player
//	analysis    steps, concessions and fitting strategies of recorded offers; for reports only
//	proof       commitments to strategies, and the replay of their moves
//	terms       documents of outcomes over several issues, whose hashes travel with offers
//	tournament  every strategy against every other over many scenarios
//
// # Inverses
//
// [Preferences.Inverse] selects the inverse by the utility and the number of outcomes. Each kind has a file:
//
//	utility                               outcomes    file                  method
//	one monotone issue, such as a price   any         inverse_line.go       a search, without memory
//	additive, several issues              up to 2^20  inverse_additive.go   two lists of combinations; sorts
//	                                                                        the best outcomes as needed
//	additive, several issues              more        inverse_large.go      two lists of pairs; longer ones for
//	                                                                        the order
//	every other, such as a table          up to 2^20  inverse_general.go    chains of outcomes with similar
//	                                                                        utilities; sorts as needed
//	every other, without known bounds     up to 2^20  inverse_general.go    sorts all outcomes
//	every other                           more        inverse_general.go    sorts a sample
//	of [Preferences.AsNegmas]             up to 2^20  inverse_negmas.go     sorts as NegMAS
//
// Additive utilities with a range too wide for the keys of inverse_additive.go use inverse_large.go.
//
// # Invariants
//
//   - No float decides anything but NegMAS' order of ties: only package analysis has others, and no other one
//     imports it. All values are
//     [fixed.Number] or integers, and all randomness comes from [Random], whose stream is defined here. Go
//     maps are never iterated over to decide.
//   - A strategy's bid has at least the reservation value. A package that bids below on purpose says so.
//   - A round allocates nothing, except in strategies that list it, and except for tables and cursors. Tables
//     are made once for all sessions with the same preferences: at the start of a session, or in the round
//     that first needs them. Those that save no time in one session are made by the second: see
//     [Preferences.IsReused].
//   - Equal utilities are ordered by the outcome's number, the lower first, so that ties never depend on a
//     sort's internals. [Preferences.AsNegmas] gives them NegMAS' order, which does, and which floats decide.
//
// # Limits and pitfalls
//
//   - A domain has at most 2^64-1 outcomes: a larger one is an error. Real-valued issues are grids.
//   - The inverse costs little to make if the utility is additive: it sorts combinations of a part of the
//     issues. Up to 2^20 outcomes, it sorts more of the best ones as its queries cost more, and all for
//     Within and Ascend. If the range of the utilities times the number of outcomes is too large for 63 bits,
//     which is never so up to 4,600,000, Descend sorts all outcomes, too. For other utilities it reads all
//     outcomes first, and sorts them by the same rule, or at once if the utility is not [Bounded].
//   - The inverse is exact for one monotone issue of any size, for up to 2^20 outcomes of any utility, and
//     for linear additive utilities whose issues divide into lists of up to 2^18 and 2^16 combinations, such
//     as 10^9. Beyond that it searches a sample, or scales some issues, and [Inverse.Exact] reports false.
//   - Discounting changes the value of an agreement, not the order of outcomes. Strategies decide by
//     undiscounted utilities, as in GENIUS; NegMAS' negotiators decide by discounted ones, as those of
//     [Preferences.AsNegmas]. [Preferences.ValueAt] is the discounted value.
//   - Reservation values above the best utility are legal: such a party ends the session.
//   - Utilities need not lie in [0, 1], but must lie in +-[MaxUtility], so that their differences and sums of
//     up to four of them cannot overflow.
package bargain
