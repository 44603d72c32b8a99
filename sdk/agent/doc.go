// Package agent runs an agent's negotiations to their ends. The agent is one function, [Config].Decide: it is shown a negotiation in
// which it can move, and what has been offered so far, and answers with an [Offer], [Accept], [Reject] or [Wait]. [Runtime.Run] does
// the rest: it finds the negotiations of its wallet, accepts invitations that suit, reacts to what the other side does, minds the
// deadlines by the chain's clock, and expires, claims and closes what is due. [Runtime.RunOne] does so for one negotiation, and
// answers with how that has ended. [Config].Concerns leaves some of the wallet's negotiations to others.
//
// # What is certain
//
// A decision is acted on exactly the state that Decide has seen; if the chain has moved on, nothing is done and Decide is asked
// again. One that cannot be, such as an offer out of range, is an [*InvalidDecision] and does not reach the chain. A Decide that
// fails, panics or takes too long delays its own negotiation and no other.
//
// Nothing is kept but what is on chain, so that an agent that was killed goes on where it was when it is started again, and does not
// make the same move twice: a move names the round that it answers. With a journal ([haggle.Config].Journal) what was under way is
// resolved first. What such a move finds done already counts as done.
//
// Who has accepted an invitation has not accepted another one that its buyer puts at the same address: the end of the first is told,
// and Admit is asked about the second.
//
// Each call of Decide is followed by a last one a margin before the time to answer is over, with [Turn].LastCall set. If that comes
// to nothing, [Config].Fallback is done.
//
// # What it does not do by itself
//
// A seller accepts no invitation but for the services in [Config].Services, or that [Config].Admit lets pass. One that asks for a
// bond, for sealed prices or for milestones is left alone, with a [*Refusal] in the log, unless [Config].Bonds, Seal or Deliver says
// what to do about it. A buyer creates its negotiations itself, with [haggle.Client.CreateNegotiation] and the same wallet: the
// runtime finds them.
//
// # Size
//
// An idle negotiation costs some hundred bytes, no goroutine and no requests of its own: 10,000 of them fit into one process with far
// less than 200 MB, what the subscription to their events takes included. All of a process share one subscription, one list of the
// wallet's negotiations every five minutes, and a look at the chain's clock every two seconds.
package agent
