// Package proof lets an agent prove after a negotiation that it followed a strategy fixed in advance.
//
// Before making any offer the agent commits to a strategy with [Commit], and publishes the hash: on chain as
// the strategy hash in its first offer's metadata, or in the offer's document. Afterwards it reveals the
// strategy and the nonce in a [Proof], a self-contained JSON file. Anyone can then replay the agent's moves
// with [Proof.Verify].
//
//	commitment, err := proof.Commit(terms, proof.Buyer, reveal) // before the first offer
//	...
//	p := proof.Proof{Version: proof.Version, Terms: terms, Side: proof.Buyer, Offers: offers,
//		Last: last, Commitment: commitment, Reveal: reveal}
//	result, err := p.Verify()
//
// # The commitment
//
// It is the SHA-256 of the concatenation of these parts:
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
// The name includes all non-default parameters, as in "negmas-boulware:e=6": see package strategy. The
// strategy "optimal" adds "other_reservation", the opponent's assumed reservation price, and strategies over
// several issues add "issues":{"domain":"...","price":"price","profile":"...", "unit":"1000000"}. A language
// model uses {"model":{"name":"...","prompt_sha256":"..."}, "version":"haggle-proof-v4"}, with
// "band":{"lower":"1000000","upper":"3500000"} if it commits to a band.
//
// Only the JSON varies in length, so different inputs always give different bytes. Negotiation and created_at
// bind the commitment to a single deal, the address to a single agent: the commitment cannot be copied. The
// nonce prevents guessing the reservation price from the hash. Nonces are random, and never used twice.
//
// # Scope
//
// A strategy's move depends on the terms, the offers, and the revealed strategy alone. Time is the round
// number, never a clock. Verify replays all the agent's offers, and the agent's acceptance or rejection.
//
// Offers include their metadata. Strategies over the price make offers that carry the commitment and nothing
// else: they refuse offers with terms beside the price, and reply with a new offer.
//
// A side that accepts or rejects before making any offer cannot publish the commitment on chain. The move is
// still replayed, and [Result.Published] is false: the proof is only as good as the commitment, and the
// opponent must have received the commitment before the move.
//
// A proof includes the final move: a side's acceptance or rejection, or the expiry. If the final move is
// missing, the file is unfinished: more moves may be missing, and Verify checks only the recorded moves.
// Expiry is not a move by any side. A side that let a turn expire has deviated from the strategy, because
// strategies always produce a move: [Result.Missed] is this move. A rejection out of the side's turn is
// invalid, because no strategy makes it.
//
// # Several issues
//
// [Strategy].Issues holds the text of the domain and the agent's profile as parameters; the nonce hides both
// until the reveal. Metadata holds either a document's hash or a commitment. So the documents of package
// terms carry the commitment, and the proof includes the documents. Verify checks the documents:
//
//   - Every document's hash matches the offer's metadata.
//   - Every document by the side is, byte for byte, the document for the strategy's offer, with the
//     commitment. So an offer's issues, price and commitment were fixed when the offer was made.
//   - A document by the side names the document that the offer answers. The proof must contain the named
//     document, and the strategy must have had this document's outcome to answer. An accepted document must be
//     in the proof, too.
//   - If a document by the side names none, the strategy had no outcome to answer. So missing documents cannot
//     be chosen later: every offer on chain has fixed this for the previous offer.
//
// Verify cannot show that a document was missing. The side could have received the document, and bargained as
// if it were missing: [Result.Unread] counts these offers. The opponent can object at once after receiving
// the reply's document. After the last offer the side writes no document: if the side rejects an offer and
// the proof lacks the offer's document, only the proof claims that the document was missing
// ([Result.LastUnread]). If a document in the proof is not valid in the domain or states a different price,
// it could not be accepted: [Result.Invalid] counts these. If the domain lacks some agreed values, documents
// become invalid. The proof does not show how long the agent waited for a document. Nor does it show that the
// parties agreed on the domain: readers must compare the text.
//
// # Limits
//
// Verify does not check whether terms and offers match the chain, nor when the commitment was published:
// "haggle verify --url" does. Players with a language model commit to the model and the prompt's hash. Their
// moves cannot be replayed, and [Result.Replayed] is false. If such a player commits to a [Band], Verify
// compares the prices of all its offers and the acceptance with the band; otherwise it checks only the
// commitment.
package proof
