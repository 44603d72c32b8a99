// Package agent runs an agent's negotiations to their ends. An agent is one function, [Config].Decide: it
// gets a negotiation in which the agent can move, with the offers so far, and returns an [Offer], [Accept],
// [Reject] or [Wait]. [Runtime.Run] does the rest: it finds the negotiations of its wallet, accepts suitable
// invitations, reacts to the other side, keeps the deadlines by the chain's clock, expires and closes
// negotiations, and claims payouts. [Runtime.RunOne] runs one negotiation and returns its result.
// [Config].Concerns excludes some of the wallet's negotiations.
//
// A buyer that needs one service from one of several sellers uses [Purchase], which bargains with all of them and buys
// once.
//
// # Limits
//
// [Config].Mints lists the mints in which the agent sells and buys, with its price limits. It is required.
// With milestones [Config].Arbiters is required as well; a bond needs Limits.MaxBond. Protocol fee, decay,
// rounds, time to answer and review window have default limits, most of them the default
// terms of package protocol. The agent declines a negotiation beyond these limits with a [*Refusal], as buyer and as seller,
// and carries out no decision beyond them, its fallback included.
//
// A seller has at most MaxOpen open negotiations, and MaxOpenPerCounterpart with one buyer. Further
// invitations wait, the oldest first. After a negotiation without a deal the buyer's next invitation waits
// for Backoff.
//
// # Guarantees
//
// Decide is called once for each state of a negotiation, and may take as long as the time to answer lasts.
// Its decision is carried out if the negotiation has not changed meanwhile. If it has, the call's context
// ends and Decide is called with the new state. It is called again on the same state only after an error,
// after a [Wait], and once after an invalid decision, with the reason in [Turn].Invalid.
//
// A decision that cannot be carried out is an [*InvalidDecision]. It is reported once. After the second one
// at a state, and if no call has returned a decision in time, the agent carries out [Config].Fallback shortly
// before the deadline, or else rejects. With no rounds left it accepts or rejects: [Wait] is invalid at the
// last call then.
//
// A Decide that fails, panics or takes too long delays its own negotiation only. An action that waits for an
// unknown outcome does not delay other negotiations. If the outcome stays unknown, the agent reads the
// negotiation again, and repeats the same action if it has not taken effect.
//
// The runtime stores nothing: after a restart it continues from the state on chain, and does not repeat a
// move, because a move names the round that it answers. With a journal ([haggle.Config].Journal) every action
// first resolves the transactions of an earlier process.
//
// A later negotiation at the address of an earlier one is another one: the result of the first is reported,
// and Admit is called for the second.
//
// # Required decisions
//
// A seller accepts invitations only for the services in [Config].Services, or those that [Config].Admit
// accepts. Negotiations with sealed prices need [Config].Seal, those with milestones [Config].OnMilestone. A
// seller with milestones is called for the last time before each moment from which on it can claim one
// milestone fewer; a price that cannot be verified to be in escrow is an [*UnverifiedError], and OnMilestone is not
// called. A buyer creates its negotiations itself, with [haggle.Client.CreateNegotiation] and the
// same wallet: the runtime finds them.
//
// # Size
//
// An idle negotiation takes some hundred bytes, no goroutine and no requests of its own: 10,000 of them take
// less than 200 MB in one process, with their subscription. All negotiations of a process share one
// subscription, a list every five minutes, and a read of the chain's clock every two seconds.
package agent
