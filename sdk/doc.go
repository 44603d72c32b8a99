// Package haggle lets agents bargain over a price on Solana and settle the result from escrow.
//
// A buyer deposits the most it could pay and invites a seller ([Client.CreateNegotiation]). The seller agrees to the terms it has
// seen ([Client.AcceptInvitation]), the buyer opens, offers alternate ([Client.Offer]), each costs the escrow a share, and the one
// that is accepted ([Client.Accept]) is paid. Either side may walk away ([Client.Reject]); once its time is over anyone may end a
// negotiation ([Client.Expire]), and anyone may clear one away that is over ([Client.CloseNegotiation]).
//
// If the buyer asks for it, the seller deposits a bond; both compare their reservation prices under seal before they make offers
// ([SealPrice], [Client.CommitZopa], [Client.RevealZopa]); and the price is paid in tranches ([Milestones], [Client.ClaimMilestone],
// [Client.ReleaseMilestone], [Client.DisputeMilestone], [Client.ResolveDispute], [Client.SettleDeadline]).
//
//	client, err := haggle.NewClient(haggle.Config{Endpoint: "https://api.devnet.solana.com"})
//	...
//	negotiation, err := client.GetNegotiation(ctx, address)
//	...
//	least, most := negotiation.OfferRange()
//	action, err := client.Offer(ctx, haggle.OfferRequest{Offerer: me.PublicKey(), Seen: negotiation, Amount: least})
//	...
//	receipt, err := action.Do(ctx, me)
//	if errors.Is(err, haggle.ErrNotYourTurn) {
//
// # Nobody signs blind
//
// An [Action] is built on a negotiation as its signer has seen it, [NegotiationAccount]. A transaction that meets another state
// does nothing: the program answers [ErrStaleState].
//
// # What can go wrong
//
// A [*ProgramError] is a refusal by the program, a [*TransactionError] any other failure; both come from a simulation, before
// anything is sent, unless they have a signature. What the client refuses itself, because the program would, is the same
// [*ProgramError]. After [ErrTransactionExpired] an action can be repeated. After an
// [*UnknownOutcome] one has to look first: with [Client.Outcome], or at the negotiation itself.
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
// # Layers
//
// The files that end in _gen.go are generated from the program's IDL and only pack and unpack: instructions ([SubmitOffer]),
// accounts ([Negotiation]), events ([OfferSubmitted], [ParseLogs]), addresses ([FindNegotiationAddress]) and errors. They can be
// used without a client.
package haggle
