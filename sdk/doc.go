// Package haggle lets agents bargain over a price on Solana and settles the result from escrow.
//
// A buyer deposits the escrow and invites a seller ([Client.CreateNegotiation]). The seller accepts the terms
// that it has read ([Negotiation.AcceptInvitation]). The buyer opens and offers alternate
// ([Negotiation.SubmitOffer]); each offer costs the escrow a share, the decay. The accepted offer is paid
// ([Negotiation.AcceptOffer]). Either party may reject ([Negotiation.Reject]). After a deadline anyone may
// expire the negotiation ([Negotiation.Expire]), and after its end anyone may close it ([Negotiation.Close]).
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
// An [Action] is built on a [Snapshot] of the negotiation: one that the caller has decided on ([Client.At]),
// or the chain's state when the action is built ([Client.Negotiation]). Every signature of a party or the
// arbiter covers the deal's created_at, so a transaction never takes effect on a later deal at the same
// address. [Action.Do] reads the negotiation again before it signs, unless [Action.Build] read it within the
// last second. It returns [*StateChangedError] for another state, and [*AlreadyDone] if the action has taken
// effect. A transaction that meets another deal or state does nothing: the program returns
// [protocol.ErrStaleState].
//
// # Errors and outcomes
//
// A [*protocol.ProgramError] is a refusal by the program, a [*transaction.Error] any other failure. Without a
// signature they come from a simulation or from the client's own checks, before anything is sent.
// [transaction.OutcomeOf] returns the outcome of the transaction for any error. Unknown is the default; an
// action is safe to repeat only after [transaction.Expired] and [transaction.NotSent].
//
// # Idempotency
//
// With a journal ([Config].Journal; package store has one in a database) every transaction is on disk
// before it is sent, with the idempotency key of its action, and is sent only after a second write authorises
// it. An action whose key is confirmed is not executed again and returns [*AlreadyDone]. A transaction of
// unknown outcome blocks actions with the same key or on the same negotiation until the outcome is known, and
// the client resolves it in the background: see [Client.Recover].
// [CreateRequest].Key names a purchase.
//
// # Sending
//
// A transaction is simulated first. Its compute limit covers the worst case of its instruction and the
// simulated units of the others, and a margin of 10 percent. Its priority fee is the 75th percentile of the
// recent fees for the accounts that it writes, up to a cap ([Config].MaxPriorityFee). [Action.With] changes
// the commitment or the cap of one action, or uses a durable nonce. [Action.Simulate] returns costs and
// changes, and signs nothing.
//
// # Several nodes
//
// With [Config].Fallbacks a client has several nodes. A read goes to the first healthy one; to a second one
// as well if the first takes longer than usual; and to the others if it fails. The client repeats it after a
// pause if all are busy. A read never returns a state from before a slot that the client has read already: a
// node that is behind is skipped, and the read fails with [transaction.ErrBehind] if all are. It fails with
// [transaction.ErrWentBack] if a node is far behind its own earlier answers, as after a restart of a local
// chain. Before its first decision about money a client requests the slot of all its nodes. It treats a transaction
// as expired only if it is 90 seconds old, one node proves the expiry alone, and no node that responds
// contradicts it: see [transaction.ErrExpired]. It sends a transaction to several nodes at once. A node that sends Retry-After rests for up to 30 seconds; one that fails rests
// longer after each failure. A node of another chain is detected before the first request
// ([transaction.ErrOtherCluster]). [Client.Nodes] returns the health of all nodes. Errors and logs name the host of
// a node and no more of its address.
//
// # Events
//
// [Client.Watch] and [Client.WatchAgent] deliver each event once and in the chain's order, through
// reconnections and failures of nodes: a notification is only a hint, and the delivered events come from the
// node's blocks. [Client.History] returns past events. [Subscription.Lag] reports the delay of a
// subscription. A slow consumer loses nothing, because events that it has not received stay at the node. All
// subscriptions of a client share a connection. [Config].Source is the source of the hints: the nodes'
// WebSocket interfaces by default, [events.NewPolling], or package yellowstone.
//
// # Metrics and traces
//
// [Config].Logger logs failures and recoveries of nodes. With [Config].TracerProvider there is a span for
// each action, named haggle.<action>, with its outcome, and one for each JSON-RPC call, named after its
// method, with an event for each node's answer. With [Config].MeterProvider there are the metrics
//
//	rpc.client.call.duration  seconds; by rpc.method, error.type
//	haggle.node.requests      a count; by server.address, rpc.method, error.type, haggle.hedge (a second request)
//	haggle.node.lag           slots behind the newest known slot at the node's latest answer; by server.address
//	haggle.node.resting       1 for a node that rests, otherwise 0; by server.address
//	haggle.action.duration    seconds; by haggle.action, haggle.outcome (a [transaction.Outcome]), error.type
//
// # Units
//
// Amounts are in base units of the negotiation's mint, rates and shares in basis points, times in Unix
// seconds of the chain's clock ([Client.Now]), which is not the machine's.
//
// # Tokens
//
// Escrow is held in mints of SPL Token and Token-2022; the client reads the mint's token program
// ([Client.GetMint]).
//
// The program pays a party that does not sign only at an account without delegate and close authority. The
// client chooses the party's associated account; if that cannot be paid, another account of the party that
// can ([token.Account.CanReceive]).
//
// # Packages
//
// Package protocol has the generated code, which packs and unpacks instructions ([protocol.SubmitOffer]),
// accounts ([protocol.Negotiation]) and events ([protocol.OfferSubmitted]), and the pure rules. It needs no
// client. Package transaction has the outcomes, errors and receipts of transactions of any program, and the
// errors and the health of nodes. Package events has the sources of hints. [ListTransactions] lists the
// transactions of the program. Package admin changes the protocol's configuration.
package haggle
