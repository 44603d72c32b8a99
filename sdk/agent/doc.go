// Package agent runs an agent's negotiations to their ends. An agent is a function, [Config].Decide: it takes
// a negotiation where the agent can move, with the offers so far, and returns an [Offer], [Accept], [Reject]
// or [Wait]. [Runtime.Run] does the rest: it finds the wallet's negotiations, accepts suitable invitations,
// reacts to the counterparty, keeps the deadlines by the chain's clock, expires and closes negotiations, and
// claims payouts. [Runtime.RunOne] runs a single negotiation and returns the result. [Config].Concerns
// excludes some of the wallet's negotiations.
//
// A buyer that needs a service from any of several sellers uses [Purchase], which bargains with all sellers
// and buys once.
//
// # Limits
//
// [Config].Mints lists the mints that the agent sells and buys in, with the price limits. It is required.
// With milestones [Config].Arbiters is required as well; a bond needs Limits.MaxBond. Protocol fee, decay,
// rounds, time to answer and review window have default limits, mostly the default terms of package protocol.
// The agent declines a negotiation beyond these limits with a [*Refusal], as buyer and as seller, and carries
// out no decision beyond them, the fallback included.
//
// MaxOpen limits a seller's open negotiations, MaxOpenPerCounterpart those with the same buyer. Further
// invitations wait, the oldest first. When a negotiation ends with no deal, the buyer's next invitation waits
// for Backoff.
//
// # Guarantees
//
// Decide is called once per negotiation state, and may take as long as the time to answer lasts. The decision
// is carried out if the negotiation did not change meanwhile. If it changed, the call's context ends and
// Decide is called with the new state. It is called again on the same state only after an error or a [Wait],
// and once after an invalid decision, with the reason in [Turn].Invalid.
//
// A decision that cannot be carried out is an [*InvalidDecision]. It is reported once. After the state's
// second invalid decision, and if no call returned a decision in time, the agent carries out
// [Config].Fallback shortly before the deadline, or else rejects. With no rounds left it accepts or rejects:
// [Wait] is invalid on the last call then.
//
// A Decide that fails, panics or takes too long delays only the negotiation concerned. An action that waits
// for an unknown outcome does not delay other negotiations. If the outcome stays unknown, the agent reads the
// negotiation again, and repeats the same action if it did not take effect.
//
// The runtime stores nothing: once restarted, it continues from the on-chain state, and does not repeat a
// move, because a move names the round that it answers. With a journal ([haggle.Config].Journal) every action
// first resolves the transactions of an earlier process.
//
// A later negotiation at the same address is distinct: the first negotiation's result is reported, and Admit
// is called for the second.
//
// # Required decisions
//
// A seller accepts invitations only for the services in [Config].Services, or those that [Config].Admit
// accepts. Negotiations with sealed prices need [Config].Seal, those with milestones [Config].OnMilestone. A
// seller with milestones receives a last call before each moment when fewer milestones could be claimed; if a
// price cannot be verified to be in escrow, [*UnverifiedError] is reported, and OnMilestone is not called. A
// buyer creates negotiations itself, with [haggle.Client.CreateNegotiation] and the same wallet: the runtime
// finds them.
//
// # Size
//
// An idle negotiation takes some hundred bytes, no goroutine and no separate requests: 10,000 negotiations
// take less than 200 MB in a process, with their subscription. All negotiations in a process share a
// subscription, a list every five minutes, and a read of the chain's clock every two seconds.
package agent
