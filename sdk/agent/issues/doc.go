// Package issues bargains on chain about several issues, such as a price and a delivery time, by a strategy
// of package bargain.
//
//	preferences, err := terms.Priced(profile, "price", 1_000_000) // one value of the issue is a token
//	player := issues.Player{
//		Strategy: strategy.NegmasBoulware(), Preferences: preferences,
//		Documents: issues.Folder{Path: "shared"}, Memory: issues.Folder{Path: "own", Private: true},
//	}
//	config := agent.Config{Decide: player.Decide, ...}
//
// # Shape
//
// The parties agree on the domain beforehand; each has preferences of its own over it. One issue is the
// price: its amount is the amount of the offer on chain. The other issues are in a document of package
// terms, whose SHA-256 is the offer's metadata of kind 2. So an offer on chain binds the whole outcome, an
// acceptance names price and hash, and the settled negotiation keeps the hash.
//
// Documents travel off chain: [Documents] is the channel, for example a folder that both sides share. A
// party writes the document before it sends the offer. It accepts an offer only if it has the document, its
// hash is the one on chain, and its price is the amount of the offer. An offer without such a document, also
// one about the price alone, is answered with another one.
//
// # Restarts
//
// A strategy's move follows from the outcomes of all offers, but the account on chain has only the last hash.
// A player therefore keeps the outcomes of each negotiation in its Memory, a channel to which only this
// player writes. Without an earlier outcome, for example after a loss of the Memory, the strategy bargains as
// if that offer had not been made; an acceptance is checked against the chain in any case.
//
// # Limits
//
// The price must be in the range of the program: an offer beyond it is moved into it, and the party rejects
// if the outcome is below its reservation value, before or after that. A seller's utility of a price is
// before the fee: [agent.Limits] limit its payment.
//
// # Other decisions
//
// With Choose, a caller such as a language model chooses each move, from the strategy's assessment of the turn.
//
// # Proofs
//
// With Commit, each document has the commitment of package proof, and the hash of the document that the offer
// answers, if the player had that one. So the moves can be proved as those over the price alone. The Memory
// keeps the documents that a proof needs: the side's own of the negotiation, and those that it has accepted
// as valid. The player reads a document there first, because the other side can delete the shared one.
package issues
