// Package proof lets an agent show afterwards that it has bargained by a strategy that it had fixed before.
//
// Before its first offer the agent commits to its strategy with [Commit], and publishes the hash: on chain as
// the strategy hash of its first offer's metadata, or in the document of that offer. Afterwards it reveals
// the strategy and the nonce in a [Proof], a self-contained JSON file. Anyone can then replay the agent's
// moves with [Proof.Verify].
//
//	commitment, err := proof.Commit(terms, proof.Buyer, reveal) // before the first offer
//	...
//	p := proof.Proof{Version: proof.Version, Terms: terms, Side: proof.Buyer, Offers: offers,
//		Last: last, Commitment: commitment, Reveal: reveal}
//	result, err := p.Verify()
//
// # The commitment
//
// It is the SHA-256 of these parts, one after the other:
//
//	"haggle-strategy-v1"                  18 bytes
//	the negotiation's address             32 bytes
//	created_at                             8 bytes, little endian
//	the agent's address                   32 bytes
//	strategy or model, canonical JSON     RFC 8785, in UTF-8
//	nonce                                 32 bytes
//
// The JSON is, without line breaks,
//
//	{"strategy":{"name":"linear","opening":"2000000","reservation":"3500000","seed":"9"},
//	"version":"haggle-proof-v4"}
//
// The name includes the parameters that differ from their defaults, as in "negmas-boulware:e=6": see package
// strategy. The strategy "optimal" also has "other_reservation", the reservation price that it assumes of the other
// side, and a strategy over several issues "issues":{"domain":"...","price":"price","profile":"...",
// "unit":"1000000"}. A language model has {"model":{"name":"...","prompt_sha256":"..."},
// "version":"haggle-proof-v4"}, with "band":{"lower":"1000000","upper":"3500000"} if it commits to a band.
//
// Only the JSON has a variable length, so that no two inputs have the same bytes. Negotiation and created_at
// bind the commitment to one deal, the address to one agent: it cannot be copied. Without the nonce the
// reservation price could be guessed from the hash. A nonce is random, and never used twice.
//
// # Scope
//
// A strategy's move follows from the terms, the offers, and the revealed strategy alone. Time is the number
// of the round, never a clock. Verify replays each of the agent's offers, and its acceptance or rejection.
//
// Offers have their metadata. Those of a strategy over the price carry the commitment and nothing else: it
// refuses an offer with terms beside the price, and answers it with another one.
//
// A side that accepts or rejects without an offer of its own has no place on chain for its commitment. Its
// move is replayed all the same, and [Result.Published] is false: the proof is worth what the commitment is,
// which the other side must have received before the move.
//
// A proof has the end of the negotiation: a side's acceptance or rejection, or the expiry. Without it the
// file is unfinished: moves may be missing, and Verify checks only those that it has. An expiry is no move of
// a side. A side that let its turn expire has deviated from its strategy, which always has a move:
// [Result.Missed] is the move. A rejection out of the side's turn is invalid, because no strategy makes it.
//
// # Several issues
//
// [Strategy].Issues has the texts of the domain and of the agent's profile as parameters, which the nonce
// hides until the reveal. Metadata has one place, for a document's hash or for a commitment. So the documents
// of package terms have the commitment, and the proof has the documents. Verify checks these:
//
//   - Each document in the proof has the hash in its offer's metadata.
//   - Each document of the side is, byte for byte, that of the strategy's offer, with the commitment. So
//     issues, price and commitment of each offer were fixed when it was made.
//   - A document of the side names the document that the offer answers. The proof must have that one, and the
//     strategy must have had its outcome to answer. An accepted document must be in the proof, too.
//   - If a document of the side names none, the strategy had no outcome to answer. So it cannot be decided
//     later which documents were missing: each offer on chain has fixed that for the offer before it.
//
// Verify cannot show that a document was missing. The side could have had it, and bargained as if it had not:
// [Result.Unread] counts these offers. The other side can contradict at once, because it receives the
// answer's document. After the last offer the side makes no document: if it rejects an offer whose document
// is not in the proof, only the proof says that it was missing ([Result.LastUnread]). A document that is in
// the proof, but is not valid in the domain or has another price, could not be accepted: [Result.Invalid]
// counts these. A domain without some of the agreed values makes documents invalid. How long the agent waited
// for a document is not part of the proof. Nor is the agreement of the parties on the domain: a reader
// compares its text.
//
// # Limits
//
// Verify does not check that terms and offers are those on chain, nor when the commitment was published:
// "haggle verify --url" does. A player with a language model commits to the model and the hash of its prompt.
// Its moves cannot be replayed, and [Result.Replayed] is false. If it commits to a [Band], Verify compares the price of
// each of its offers and of its acceptance with the band; otherwise it checks only the commitment.
package proof
