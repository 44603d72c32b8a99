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
// The parties agree on the domain beforehand; each uses private preferences over it. One issue is the price:
// the issue's amount equals the on-chain offer amount. The remaining issues are in a document of package
// terms, whose SHA-256 is the offer's metadata of kind 2. So an offer on chain binds the whole outcome, an
// acceptance names price and hash, and the settled negotiation keeps that hash.
//
// Documents travel off chain: [Documents] is the channel, for example a directory that both sides share. A
// party writes the document before it sends the offer. It accepts an offer only if it holds the document, the
// document's hash matches the chain, and the price equals the offer's amount. If there is no such document,
// even for an offer about the price alone, it makes a counter-offer.
//
// # Restarts
//
// A strategy's move follows from the outcomes of all offers, but the on-chain account stores only the last
// hash. A player therefore keeps the outcomes of each negotiation in Memory, a channel that only this player
// writes to. If an earlier outcome is missing, for example because the Memory was lost, the strategy bargains
// as if that offer had not been made; an acceptance is checked against the chain in any case.
//
// # Limits
//
// The price must be in the range of the program: an offer beyond it is moved into it, and the party rejects
// if the outcome is below the reservation value, before or after that. A seller's price utility is before the
// fee: [agent.Limits] limit the payment.
//
// # Other decisions
//
// With Choose, a caller such as a language model chooses each move, from the strategy's assessment of the
// turn.
//
// # Proofs
//
// With Commit, each document contains the commitment of package proof, and the hash of the answered offer's
// document, if the player had it. So the moves can be proved as those over the price alone. The Memory keeps
// the documents that a proof needs: the side's own of the negotiation, and those accepted as valid. The
// player reads a document there first, because the counterparty can delete the shared copy.
package issues
