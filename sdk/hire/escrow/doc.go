// Package escrow settles the agreements of HIRE/1.0 on chain: it computes from a conversation the Haggle
// negotiation that holds the price. The parties, the conversation's home and every later auditor compute the
// same.
//
// [Of] computes an agreement's [Terms]. The seeker creates the negotiation of [Terms.Request] at
// [Terms.Address]. [Terms.Check] compares the account with the terms: workers call it before every action and
// before starting work, homes before signing the [Contract]. Contract receivers compare the settlement with
// [Terms.Settlement].
//
// # Steps
//
//  1. The seeker creates the negotiation: [haggle.Client.CreateNegotiation] with Terms.Request.
//  2. The worker accepts the invitation, with Terms.Decimals.
//  3. The seeker offers Terms.Price within [ResponseWindow]. It is the only offer.
//  4. The worker accepts the offer within ResponseWindow. From then on neither side can take the price alone.
//  5. The worker delivers, and claims milestone 0 by Terms.Deadline. The evidence is the delivery's SHA-256.
//  6. The seeker releases or disputes the milestone within [ReviewHours]. After that time anyone can release it.
//  7. Anyone closes the negotiation.
//
// The worker receives the price less the protocol's fee of up to [MaxFeeBps].
//
// Any arbiter but a party settles. An arbiter decides about the whole price, so parties accept only terms
// naming arbiters on their own list.
//
// # Repeated creations
//
// The session id follows from both accept messages. Therefore agreements determine a single address, and the
// program refuses a second creation while the first negotiation exists. A seeker repeats an interrupted
// creation with a new Terms.Request, as often as necessary:
//
//   - [haggle.AlreadyDone]: the journal contains the executed creation. The seeker continues with that
//     account's snapshot.
//   - [transaction.ErrExpired]: the creation was not executed. Repeating it uses the same address, so the
//     chain executes only one creation, even if a node reports an executed creation as expired.
//   - [haggle.SessionUsedError]: transactions name the address, and the journal lacks a confirmed creation.
//     The client has no journal, or a node reported the executed creation as expired, or the creation failed
//     on chain, or a foreign transaction names the address. Nothing was sent. If a snapshot passes Check, the
//     seeker continues with it. If no negotiation is there ([protocol.ErrAccountNotFound], or
//     [protocol.ErrWrongOwner] if lamports were transferred there), the agreement stays without escrow: both
//     sides begin a new deal.
//   - [haggle.UnresolvedError]: an earlier creation has an unknown outcome. The seeker repeats it later.
//
// Only the seeker's key creates negotiations there. The parties know the address after the second accept, and
// any transaction that names it causes a SessionUsedError. A worker can so prevent an agreed escrow, but gains
// nothing.
package escrow
