// Package haggle lets agents bargain over a price on Solana and settle the result from escrow.
//
// A buyer deposits the most it could pay and invites a seller ([Client.CreateNegotiation]). The seller agrees to the terms it has
// seen ([Client.AcceptInvitation]), the buyer opens, offers alternate ([Client.Offer]), each costs the escrow a share, and the one
// that is accepted ([Client.Accept]) is paid. Either side may walk away ([Client.Reject]); once its time is over anyone may end a
// negotiation ([Client.Expire]), and anyone may clear one away that is over ([Client.CloseNegotiation]).
//
// If the buyer asks for it, the seller deposits a bond; both compare their reservation prices under seal
// before they make offers ([SealPrice], [Client.CommitZopa], [Client.RevealZopa]); and the price is paid in
// tranches ([Milestones], [Client.ClaimMilestone], [Client.ReleaseMilestone], [Client.DisputeMilestone],
// [Client.ResolveDispute], [Client.SettleDeadline]). Both parties together can end an agreed negotiation with
// any split ([Client.SettleByAgreement]).
//
//	client, err := haggle.NewClient(haggle.Config{Endpoint: "https://api.devnet.solana.com"})
//	...
//	negotiation, err := client.GetNegotiation(ctx, address)
//	...
//	least, most := negotiation.OfferRange()
//	action, err := client.Offer(ctx, haggle.OfferRequest{Offerer: me.PublicKey(), Seen: negotiation, Amount: least})
//	...
//	receipt, err := action.Do(ctx, me)
//	if errors.Is(err, protocol.ErrNotYourTurn) {
//
// # Every action states its snapshot
//
// An [Action] is built on a snapshot of the negotiation, [NegotiationAccount]. What a party or the arbiter
// signs names the deal by its created_at, which the SDK takes from the snapshot, so a transaction never lands
// on a later deal at the same address. A transaction that meets another deal or another state does nothing:
// the program answers [protocol.ErrStaleState].
//
// # What can go wrong
//
// A [*protocol.ProgramError] is a refusal by the program, a [*TransactionError] any other failure; both come from a simulation, before
// anything is sent, unless they have a signature. What the client refuses itself, because the program would, is the same
// [*protocol.ProgramError]. [OutcomeOf] says of any error whether the action may be repeated: after [ErrTransactionExpired] it can be, after
// an [*UnknownOutcome] one has to look first, with [Client.Outcome] or at the negotiation itself.
//
// # Nothing is done twice
//
// With a journal ([Config].Journal; package journal has one in a file) every transaction is on the disk before it is sent, with the
// idempotency key of its action. An action whose key is confirmed is not carried out again, and returns [*AlreadyDone]. A
// transaction of unknown outcome blocks actions with the same key or on the same negotiation until the outcome is known, and is
// resolved in the background: see [Client.Recover]. [CreateRequest].Key names a purchase.
//
// Each action carries what it expects of the negotiation ([Precondition]). [Action.Do] reads it again before anyone signs: [*StateChangedError]
// says that it is another one by now, [*AlreadyDone] that this very action has been done.
//
// # Sending
//
// A transaction is simulated, gets a compute limit that covers the worst case of its instruction and the simulated units of the
// others with a margin ([Config].ComputeMarginPercent), and a
// priority fee that is a percentile of what the accounts it writes have cost recently, up to a cap ([Config].PriorityFeePercentile,
// [Config].MaxPriorityFee). [Action.With] changes for one action its commitment, its cap, or has it use a durable nonce
// ([Client.CreateNonce]). [Action.Simulate] says what an action would cost and change, and signs nothing.
//
// # Nodes that fail
//
// With [Config].Fallbacks a client has several nodes. A read is asked of the first one that is well; of a second one too if that takes
// longer than usual; and of the others if it fails, which is repeated after a pause if all are busy. No read goes back behind a slot
// that the client has seen before, also if another node answers: one that is behind is not believed ([ErrNodeBehind] if all are, with
// [ErrNodeWentBack] if it is far behind itself, as after a local chain has been started anew). Before a client decides about money for
// the first time, it asks all its nodes how far the chain has come. That a transaction has expired, and may be repeated, is believed
// only if one node knows all that it takes by itself, and no other knows of the transaction.
// A transaction is sent to several nodes at once. A node that asks to be left alone (Retry-After) is, for up to 30 seconds; one
// that fails rests, the longer the more often. A node of another chain is found out before it is asked anything else
// ([ErrOtherCluster]). [Client.Nodes] tells how they are. No error and no log names more of a node than its host.
//
// # Events
//
// [Client.Watch] and [Client.WatchAgent] tell each event once and in the chain's order, whatever happens to connections and nodes:
// what a node tells at once is only a hint, and what is delivered is what the node has in its blocks. [Client.History] is what has
// happened before. [Subscription.Lag] says how far behind a subscription is; a listener that is slow loses nothing, because what
// it has not taken stays at the node. All subscriptions of a client share a connection. [Config].Source is where the hints come
// from: the nodes' WebSocket interfaces, [NewPolling], or package yellowstone.
//
// # Metrics and traces
//
// [Config].Logger is told when nodes fail and recover. With [Config].TracerProvider there is a span for each action, named
// haggle.<action>, with its outcome, and one for each JSON-RPC call, named after its method, with an event for each node's answer.
// With [Config].MeterProvider there are the metrics
//
//	rpc.client.call.duration  seconds; by rpc.method, error.type
//	haggle.node.requests      a count; by server.address, rpc.method, error.type, haggle.hedge (asked because another was slow)
//	haggle.node.lag           slots behind what had been seen when the node last answered; by server.address
//	haggle.node.resting       1 for a node that is left alone for the moment, otherwise 0; by server.address
//	haggle.action.duration    seconds; by haggle.action, haggle.outcome (an [Outcome]), error.type
//
// # Units
//
// Amounts are in base units of the negotiation's mint, rates and shares in basis points, times in Unix seconds of the chain's
// clock ([Client.Now]), which is not the machine's.
//
// # Tokens
//
// Escrow is held in mints of SPL Token and Token-2022 alike; the client finds out which program a mint belongs to ([Client.GetMint]).
//
// The program pays a party that does not sign only at an account without delegate and close authority. The
// client chooses the party's associated account; if that cannot be paid, another one of the party's that can
// ([TokenAccount.CanReceive]).
//
// # Layers
//
// The files that end in _gen.go are generated from the program's IDL and only pack and unpack: instructions ([protocol.SubmitOffer]),
// accounts ([protocol.Negotiation]), events ([protocol.OfferSubmitted], [protocol.ParseLogs]), addresses ([protocol.FindNegotiationAddress]) and errors. They can be
// used without a client.
package haggle
