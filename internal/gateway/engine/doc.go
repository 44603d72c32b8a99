// Package engine implements the rules that a publisher's strategy uses to answer a client's license
// proposals. It reads no clock, does no input or output, and computes with integers only: the same arguments
// give the same answer on every machine.
//
//	strategy, err := engine.ParseStrategy(document)
//	decision, err := engine.Respond(&strategy, state, proposal)
//	send(decision.Answer()) // all that the client receives
//	state, deadline = state.Next(proposal, decision), strategy.Deadline(decision.Action, began, now)
//
// The caller sets a negotiation past the deadline to the status timeout, before it requests a decision.
//
// # Order of the rules
//
//  1. After the last round, the answer is a timeout.
//  2. A price below the published floor, or a deal breaker, is a rejection.
//  3. A purpose that is not allowed, or a TTL or rate outside its range, gets a counter offer with a value
//     inside.
//  4. A proposal at least as good as the standing counter offer is accepted: a counter offer binds.
//  5. A proposal is accepted if its score reaches the threshold, or its price reaches the acceptable price of
//     the round. Otherwise it gets a counter offer. An aggressive publisher never sells below the preferred
//     price, whatever the threshold is.
//  6. An agreement above the approval threshold waits for the publisher.
//
// # The band of a counter offer
//
// The rules' counter offer contains the asked price. [Decision.WithPrice] selects another price from the
// band. The band contains the prices that a chooser outside the rules, such as a language model, can select.
// The lowest (Decision.Least) is the lowest price that the rules would accept for the same terms in the same
// round: the acceptable price, or the price whose score reaches the threshold, and never less than the client
// offers. The highest is the price in the rules' own counter offer. So no choice costs the publisher more
// than a client could get by naming the price itself, and no choice reveals more about the minimum than the
// rules' answers do.
//
// [Decision.NotAbove] keeps the counter offers of later rounds at or under a chosen price.
//
// # Concessions
//
// A publisher has two prices. The preferred price is the target, and the minimum the walk-away price. It
// always accepts the target. It first asks for the style's opening, at the target or above it; the asked
// price falls to the target along the style's curve. All prices from the target on score the same, so this is
// no concession.
//
// Under the target the publisher concedes only if the client does. If a client went a part of the way from
// the first proposal to the preferred price, the publisher goes the same part of the way from the preferred
// price to the style's least price, within the style's curve. So a client that repeats a price whose score is
// under the threshold never buys for less than the preferred price, and a client that climbs pays more to a
// harder style. Terms that differ from the preferred terms count with their surcharge, the price that
// outweighs their loss in the score for every minimum.
//
// Proposals count in all negotiations between client and publisher in a day ([Memory]): a new negotiation
// starts at the newest asked price, and adds no rounds of concession. Several negotiations give a client no
// lower price than a single negotiation.
//
// # Several identities
//
// A client with ten identities gets the same prices as ten new clients. The lowest price for such a client is
// where its proposals meet the publisher's. With a first proposal at the published floor f, the preferred
// price p, and the style's discount d from the preferred price, that price is
//
//	p - d (p - f) / (p - f + d)
//
// or the threshold's price, if that is lower. Package buyers plays such clients; docs/GATEWAY.md shows the
// result.
//
// # The hidden minimum
//
// Each answer separates prices, so answers that depend on the exact minimum form an oracle: ten negotiations
// of ten rounds allow a hundred binary search steps. A score that starts at the minimum is such an oracle,
// too: with two different sets of non-price terms, the threshold lies at two prices, and two linear equations
// give the minimum. Random noise does not help, because a client can average it over negotiations, identities
// and versions.
//
// Asked prices, surcharges and concessions do not depend on the minimum until the publisher cannot concede
// further. Otherwise the minimum acts through a single number, the walk-away price: the minimum rounded up to
// the next number in a public list, the Renard series R10 (1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8 and their
// multiples by powers of ten), and at most the preferred price. No asked or accepted price is lower, and the
// score that is compared with the threshold (Analysis.GuardedScore) starts at it. Two minima with the same
// walk-away price therefore give the same answers to every sequence of proposals, from any number of clients,
// in any number of negotiations, for all versions of the strategy with this minimum. The tests compare such
// pairs.
//
//   - A client that finds the walk-away price knows that the minimum is above the number of the list before it, and
//     at most that price. Below 100 micro units the list is dense: it hides little of a minimum that is a few
//     millionths of the currency.
//   - A walk-away price that is not on the list is the preferred price of the proposal's volume tier. Tier prices are
//     public, and none is below the minimum.
//   - A published floor equal to the minimum publishes the minimum, which is then the walk-away price.
//   - The preferred price, the maximum of an aggressive strategy, the threshold and the ranges of TTL and rate have
//     no such protection: negotiations can find them.
//
// This protection has a cost: proposals at or above the minimum but under the walk-away price are never
// accepted. From 100 micro units on, that is up to 28 % above the minimum. A publisher who does not want this
// chooses a listed number as the minimum. A proposal whose score with the real minimum reaches the threshold
// can get a counter offer if the guarded score does not.
//
// A deal breaker on the price would separate prices as well. Deal breakers that reject low prices raise the
// published floor ([Strategy.Floor]), and all others must lie outside the prices that the strategy can
// accept.
package engine
