// Package haggle lets agents bargain over a price on Solana and settles the result from escrow.
//
// A buyer deposits the escrow and invites a seller ([Client.CreateNegotiation]). The seller reads and accepts
// the terms ([Negotiation.AcceptInvitation]). The buyer opens and offers alternate
// ([Negotiation.SubmitOffer]); each offer costs the escrow a share, the decay. The accepted offer is paid
// ([Negotiation.AcceptOffer]). Either party may reject ([Negotiation.Reject]). Once a deadline passed, anyone
// may expire the negotiation ([Negotiation.Expire]), and once it is over, anyone may close it
// ([Negotiation.Close]).
//
// The buyer can require a bond of the seller, a comparison of sealed reservation prices before the first
// offer ([protocol.SealPrice], [Negotiation.CommitZopa], [Negotiation.RevealZopa]), and payment in tranches
// ([Milestones], [Negotiation.ClaimMilestone], [Negotiation.ReleaseMilestone],
// [Negotiation.DisputeMilestone], [Negotiation.ResolveDispute], [Negotiation.SettleDeadline]). Both parties
// together can end an agreed negotiation with any split ([Negotiation.SettleByAgreement]).
//
//	client, err := haggle.NewClient(haggle.Config{Endpoint: "https://api.devnet.solana.com"})
//	...
//	snapshot, err := client.Negotiation(address).Snapshot(ctx)
//	...
//	least, most := snapshot.OfferRange()
//	receipt, err := client.At(snapshot).SubmitOffer(me.PublicKey(), haggle.Offer{Amount: least}).Do(ctx, me)
//	if errors.Is(err, protocol.ErrNotYourTurn) {
//
// # Snapshots
//
// An [Action] is built on a [Snapshot] of the negotiation: a snapshot chosen by the caller ([Client.At]), or
// the chain's state when the action is built ([Client.Negotiation]). Every signature by a party or arbiter
// covers the deal's created_at, so a transaction never takes effect on a later deal with that address.
// [Action.Do] reads the negotiation again before signing, unless [Action.Build] read it within the last
// second. It returns [*StateChangedError] for another state, and [*AlreadyDone] if the action took effect. A
// transaction that meets another deal or state does nothing: the program returns [protocol.ErrStaleState].
//
// # Errors and outcomes
//
// A [*protocol.ProgramError] is a refusal by the program, a [*transaction.Error] any other failure. If no
// signature is set, they come from a simulation or from the client's own checks, before anything is sent.
// [transaction.OutcomeOf] returns the outcome of the transaction for any error. Unknown is the default; an
// action is safe to repeat only after [transaction.Expired] and [transaction.NotSent].
//
// # Idempotency
//
// With a journal ([Config].Journal; package store keeps it in a database) every transaction is on disk before
// it is sent, with the action's idempotency key, and is sent only when a second write authorized it. An
// action whose key is confirmed is not executed again and returns [*AlreadyDone]. A transaction with unknown
// outcome blocks actions that share the key or the negotiation until the outcome is known, and the client
// resolves it in the background: see [Client.Recover].
//
// [CreateRequest].Key names a purchase and is required. The negotiation's address follows from the key and the
// parties, so a repeated creation never deposits a second escrow, even without a journal.
//
// # Sending
//
// A transaction is simulated first. The compute limit covers the action's worst case and the simulated units
// of all other instructions, and a margin of 10 percent. The priority fee is the 75th percentile of the
// recent fees for the written accounts, up to a cap ([Config].MaxPriorityFee). [Action.With] changes an
// action's commitment or cap, or uses a durable nonce. [Action.Simulate] returns costs and changes, and signs
// nothing.
//
// # Several nodes
//
// With [Config].Fallbacks a client uses several nodes. A read goes to the first healthy node; to a second
// node as well if the first takes longer than usual; and to the others if it fails. If all are busy, the
// client pauses and repeats it. A read never returns a state older than a slot that the client already read:
// a node that is behind is skipped, and the read fails with [transaction.ErrBehind] if all are. It fails with
// [transaction.ErrWentBack] if a node is far behind its own earlier responses, as happens when a local chain
// restarts. Before the first decision about money a client requests the slot of all nodes. It treats a
// transaction as expired only if it is 90 seconds old, a single node proves the expiry alone, and no node
// that responds contradicts it: see [transaction.ErrExpired]. It sends a transaction to several nodes at
// once. A node that sends Retry-After rests for up to 30 seconds; a failing node rests longer each time. A
// node of another chain is detected before the first request ([transaction.ErrOtherCluster]). [Client.Nodes]
// returns the health of all nodes. Errors and logs name a node's host and omit the rest of the URL.
//
// # Events
//
// [Client.Watch] and [Client.WatchAgent] deliver each event once and in the chain's order, through
// reconnections and failures of nodes: a notification is a hint, and the delivered events come from the
// node's blocks. [Client.History] returns past events. [Subscription.Lag] reports a subscription's delay. A
// slow consumer loses nothing, because undelivered events stay at the node. All subscriptions of the client
// share a connection. [Config].Source is the source of the hints: the nodes' WebSocket interfaces by default,
// [events.NewPolling], or package yellowstone.
//
// # Metrics and traces
//
// [Config].Logger logs failures and recoveries of nodes. With [Config].TracerProvider there is a span for
// each action, named haggle.<action>, with the outcome, and a span for each JSON-RPC call, named after the
// method, with an event for each node's response. With [Config].MeterProvider there are these metrics:
//
//	rpc.client.call.duration  seconds; by rpc.method, error.type
//	haggle.node.requests      a count; by server.address, rpc.method, error.type, haggle.hedge (a second request)
//	haggle.node.lag           slots behind the newest known slot at the node's latest answer; by server.address
//	haggle.node.resting       1 for a node that rests, otherwise 0; by server.address
//	haggle.action.duration    seconds; by haggle.action, haggle.outcome (a [transaction.Outcome]), error.type
//
// # Units
//
// Amounts are in the base units of the negotiation's mint, rates and shares in basis points, times in Unix
// seconds of the chain's clock ([Client.Now]), which is not the machine's.
//
// # Tokens
//
// Escrow is held in mints of SPL Token and Token-2022; the client reads the mint's token program
// ([Client.GetMint]).
//
// If a party does not sign, the program pays to accounts without delegate and close authority only. The
// client chooses the party's associated account; if it cannot be paid, a payable account of the party
// ([token.Account.CanReceive]).
//
// # Packages
//
// Package protocol contains generated code, which packs and unpacks instructions ([protocol.SubmitOffer]),
// accounts ([protocol.Negotiation]) and events ([protocol.OfferSubmitted]), and the pure rules. It needs no
// client. Package transaction contains the outcomes, errors and receipts of transactions of any program, and
// the errors and the health of nodes. Package events provides the sources of hints. [ListTransactions] lists
// the transactions of the program. Package admin changes the protocol's configuration.
package haggle
