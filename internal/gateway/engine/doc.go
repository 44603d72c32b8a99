// Package engine has the rules by which a publisher's strategy answers a client's proposals for a licence. It
// has no clock, does no input or output, and computes with integers only: the same arguments give the same
// answer on every machine.
//
//	strategy, err := engine.ParseStrategy(document)
//	decision, err := engine.Respond(&strategy, engine.State{}, proposal)
//	keep(decision.Status(), decision.Round, decision.Terms, strategy.Deadline(decision.Action, began, now))
//	send(decision.Answer()) // all that the client receives
//
// The caller sets a negotiation whose deadline has passed to the status timeout, before it asks for a decision.
//
// # Order of the rules
//
//  1. After the last round, the answer is a timeout.
//  2. A price below the published floor, or a deal breaker, is a rejection.
//  3. A purpose that is not allowed, or a TTL or rate outside its range, gets a counter offer with a value
//     inside.
//  4. A proposal at least as good as the standing counter offer is accepted: a counter offer binds.
//  5. A proposal is accepted if its score reaches the threshold, or its price reaches the acceptable price of
//     the round. Otherwise it gets a counter offer.
//  6. An agreement above the approval threshold waits for the publisher.
//
// The asked price falls from the style's opening to the target, which it reaches in the last round, along the
// style's concession curve. It depends on the round and not on the client's prices. Terms other than the
// preferred ones add the price that outweighs their loss in the score.
//
// # The hidden minimum
//
// Each answer separates prices, so answers that depend on the exact minimum form an oracle: ten negotiations
// of ten rounds are a hundred steps of a binary search. A score that starts at the minimum is such an oracle,
// too: with two other terms, its threshold lies at two prices, and two linear equations give the minimum.
// Random noise does not help, because a client can average it over negotiations, identities and versions.
//
// Here the minimum acts through one number alone, the target: the minimum rounded up to the next number of a
// public list, the Renard series R10 (1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8 and their multiples by powers
// of ten), and at most the preferred price. Openings, counter offers, surcharges, the acceptable price, and
// the score that is compared with the threshold (Analysis.GuardedScore) start at the target. Two minima with
// the same target therefore give the same answers to every sequence of proposals, from any number of clients,
// in any number of negotiations, for all versions of the strategy with this minimum. The tests compare such
// pairs.
//
// The last counter offer of a negotiation shows the target. So one negotiation with low proposals reveals all
// that negotiations can reveal, and later ones add nothing:
//
//   - The minimum is above the number of the list before the target, and at most the target. Below 100 micro
//     units the list is dense: it hides little of a minimum that is a few millionths of the currency.
//   - A target that is not on the list is the preferred price of the proposal's volume tier. Tier prices are
//     public, and none is below the minimum.
//   - A published floor equal to the minimum publishes the minimum, which is then the target.
//   - The preferred price, the maximum and the ranges of TTL and rate have no such protection: many
//     negotiations can find them.
//
// This protection has a cost: proposals between the minimum and the target are never accepted. From 100 micro
// units on, that is up to 28 % above the minimum. A publisher who does not want this chooses a number of the
// list as the minimum. A proposal whose score with the real minimum reaches the threshold can get a counter
// offer if its guarded score does not.
//
// A deal breaker on the price would separate prices as well. Those that reject low prices raise the published
// floor ([Strategy.Floor]), and others must lie outside the prices that the strategy can accept.
package engine
