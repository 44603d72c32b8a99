package proof

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gowebpki/jcs"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
)

// MaxSize is the largest file that Read accepts, in bytes.
const MaxSize = 1 << 22

// Offer is an offer of the negotiation. Offers alternate; the buyer makes the first.
type Offer struct {
	// Amount is the price in base units of the mint.
	Amount uint64 `json:"amount,string"`
	// Metadata is the offer's metadata, 64 bytes; zero means none.
	Metadata Metadata `json:"metadata,omitzero"`
	// Document is the text of the offer's document, as in package terms. It is empty if there is none, or the
	// side has not read the document.
	Document string `json:"document,omitempty"`
}

// Last is the final move, after the last offer.
type Last struct {
	// By is the moving side, or "" after "expire".
	By Side `json:"by,omitempty"`
	// Move is "accept", "reject" or "expire".
	Move string `json:"move"`
}

// expiry ends a negotiation when time has run out.
var expiry = Last{Move: "expire"}

// Proof is a negotiation, with what one side had committed to.
type Proof struct {
	Version string `json:"version"`
	Terms   Terms  `json:"terms"`
	// Side is the proving side.
	Side   Side    `json:"side"`
	Offers []Offer `json:"offers"`
	// Last is nil if the file lacks the final move: the negotiation may go on.
	Last       *Last  `json:"last,omitempty"`
	Commitment Hash   `json:"commitment"`
	Reveal     Reveal `json:"reveal"`
}

// Read reads a proof. It returns [ErrForm] for unknown, missing or repeated fields, and for numbers in
// non-canonical form, so files are unambiguous.
func Read(from io.Reader) (*Proof, error) {
	text, err := io.ReadAll(io.LimitReader(from, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%w: larger than %d bytes", ErrForm, MaxSize)
	}
	given, err := jcs.Transform(text)
	if err != nil {
		return nil, fmt.Errorf("%w: not JSON: %w", ErrForm, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	p := new(Proof)
	if err := decoder.Decode(p); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrForm, describe(err))
	}
	if p.Version != Version {
		return nil, fmt.Errorf("%w: version %q, not %q", ErrForm, p.Version, Version)
	}
	again, err := json.Marshal(p)
	if err == nil {
		again, err = jcs.Transform(again)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	if !bytes.Equal(given, again) {
		return nil, fmt.Errorf("%w: a field is missing, or a value has another form", ErrForm)
	}
	return p, nil
}

// describe describes an error of package json in the words of the format.
func describe(err error) string {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return "an object is required, not: " + wrong.Value
	case errors.As(err, &wrong):
		return "field " + wrong.Field + " has a wrong value: " + wrong.Value
	case strings.Contains(err.Error(), ",string struct tag"):
		return `amounts and seed must be whole numbers in quotes, such as "3500000"`
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// Write writes a proof for Read. It returns [ErrForm] if the proof is too large.
func (p *Proof) Write(to io.Writer) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(p); err != nil {
		return err
	}
	if text.Len() > MaxSize {
		return fmt.Errorf("%w: larger than %d bytes", ErrForm, MaxSize)
	}
	_, err := text.WriteTo(to)
	return err
}

// Result is a valid proof.
type Result struct {
	// Replayed reports whether the moves have been replayed. It is false if a model played.
	Replayed bool
	// Banded reports whether a model's offers and acceptance have been compared with the model's band.
	// Outside is the first move outside the band: the side has deviated. Offers and Ended then count compared
	// moves; rejections carry no price.
	Banded  bool
	Outside *Outside
	// Offers is the number of replayed offers by the side. Ended reports whether the side's acceptance or
	// rejection has been replayed, too.
	Offers int
	Ended  bool
	// Published reports whether the side's first offer carries the commitment. A side that made no offer
	// cannot publish the commitment: the opponent must have received it before the move.
	Published bool
	// Unread counts the opponent's documents that the side claimed were missing, in the document of its next
	// offer. LastUnread reports whether the proof lacks the document of the last offer, with the side's turn
	// due. Nothing proves that such documents were missing.
	Unread     int
	LastUnread bool
	// Invalid counts the opponent's documents in the proof that are not valid in the side's domain, or state
	// a different price than the offer. The side bargained as if these documents were missing.
	Invalid int
	// Missed is the strategy's move if the negotiation expired during the side's turn: "offer", "accept" or
	// "reject"; the side has deviated. Otherwise it is empty.
	Missed string
}

// Verify checks that the reveal matches the side's commitment, and replays the side's moves, or compares a
// model's moves with the model's band. It returns [ErrTerms], [ErrCommitment], [ErrMetadata], [ErrStrategy]
// or [ErrReplay] with the details.
func (p *Proof) Verify() (Result, error) {
	side, err := p.Side.offerSide()
	if err != nil {
		return Result{}, err
	}
	if err := p.check(); err != nil {
		return Result{}, err
	}
	commitment, err := Commit(p.Terms, p.Side, p.Reveal)
	if err != nil {
		return Result{}, err
	}
	if commitment != p.Commitment {
		return Result{}, ErrCommitment
	}
	published, err := p.published(side)
	if err != nil {
		return Result{}, err
	}
	result := Result{}
	switch {
	case p.Reveal.Strategy != nil:
		result, err = p.replay(side)
	case p.Reveal.Model.Band != nil:
		result, err = p.compareBand(side)
	}
	result.Published = published && err == nil
	return result, err
}

// published reports whether the side has made an offer. It returns ErrMetadata if the first such offer does
// not carry the commitment.
func (p *Proof) published(side onchain.Side) (bool, error) {
	first := int(side) // the buyer opens
	if first >= len(p.Offers) {
		return false, nil
	}
	carried, ok := onchain.Metadata(p.Offers[first].Metadata).Commitment()
	if document := p.Offers[first].Document; document != "" {
		committed, err := terms.CommittedIn([]byte(document))
		if err != nil {
			return false, fmt.Errorf("%w: document of offer %d: %w", ErrMetadata, first+1, err)
		}
		carried, ok = committed.Commitment, true
	}
	if !ok || p.Commitment != carried {
		return false, fmt.Errorf("%w: offer %d does not carry the commitment", ErrMetadata, first+1)
	}
	return true, nil
}

// check returns ErrTerms if the rules do not allow the terms, the offers or the last move, or if a document
// does not match the offer.
func (p *Proof) check() error {
	if err := p.Terms.check(); err != nil {
		return err
	}
	n := p.Terms.rules().Negotiation()
	for i, offer := range p.Offers {
		if n.RoundsLeft() == 0 {
			return fmt.Errorf("%w: %d offers in %d rounds", ErrTerms, len(p.Offers), p.Terms.MaxRounds)
		}
		if least, most := n.OfferRange(); offer.Amount < least || offer.Amount > most {
			return fmt.Errorf("%w: offer %d is %d, not %d to %d", ErrTerms, i+1, offer.Amount, least, most)
		}
		hash, has := onchain.Metadata(offer.Metadata).Document()
		if offer.Document != "" && (!has || sha256.Sum256([]byte(offer.Document)) != hash) {
			return fmt.Errorf("%w: the document of offer %d does not match it", ErrMetadata, i+1)
		}
		onchain.Apply(n, n.Turn(), offer.Amount, 0)
	}
	if p.Last == nil || *p.Last == expiry {
		return nil
	}
	by, err := p.Last.By.offerSide()
	switch {
	case p.Last.Move == expiry.Move:
		return fmt.Errorf("%w: an expiry has no side", ErrTerms)
	case err != nil:
		return err
	case p.Last.Move != "accept" && p.Last.Move != "reject":
		return fmt.Errorf("%w: last move %q is neither accept nor reject", ErrTerms, p.Last.Move)
	case p.Last.Move == "accept" && !n.CanAccept(by):
		return fmt.Errorf("%w: the %s has no offer to accept", ErrTerms, p.Last.By)
	}
	return nil
}

// replayer plays a strategy's turns in sequence.
type replayer interface {
	// respond returns the strategy's move after turn offers.
	respond(n *onchain.Account, turn int) (bargain.Action, error)
	// compare compares the turn's offer with the strategy's. It returns ErrReplay if they differ.
	compare(turn int, outcome bargain.Outcome) error
}

// moves lists the names for moves in files and results.
var moves = [...]string{bargain.MoveOffer: "offer", bargain.MoveAccept: "accept", bargain.MoveEnd: "reject"}

// replay plays the side's turns.
func (p *Proof) replay(side onchain.Side) (result Result, err error) {
	result.Replayed = true
	var player replayer
	if p.Reveal.Strategy.Issues != nil {
		player, err = p.overIssues(side, &result)
	} else {
		player, err = p.overPrice(side)
	}
	if err != nil {
		return Result{}, err
	}
	n := p.Terms.rules().Negotiation()
	for i, offer := range p.Offers {
		if n.Turn() == side {
			action, err := player.respond(n, i)
			if err != nil {
				return Result{}, err
			}
			if action.Move != bargain.MoveOffer {
				return Result{}, fmt.Errorf("%w: offer %d is %d, the strategy's move is %s (%s)",
					ErrReplay, i+1, offer.Amount, action.Move, action.Reason)
			}
			if err := player.compare(i, action.Outcome); err != nil {
				return Result{}, err
			}
			result.Offers++
		}
		onchain.Apply(n, n.Turn(), offer.Amount, 0)
	}
	switch own := n.Turn() == side; {
	case p.Last == nil || p.Last.By != p.Side && (*p.Last != expiry || !own):
		return result, nil
	case !own:
		return Result{}, fmt.Errorf("%w: the side rejected out of its turn, which no strategy does", ErrReplay)
	}
	action, err := player.respond(n, len(p.Offers))
	if err != nil {
		return Result{}, err
	}
	move := moves[action.Move]
	if *p.Last == expiry {
		result.Missed = move
		return result, nil
	}
	if move != p.Last.Move {
		return Result{}, fmt.Errorf("%w: the last move is %s, the strategy's is %s (%s)",
			ErrReplay, p.Last.Move, action.Move, action.Reason)
	}
	result.Ended = true
	return result, nil
}

// otherSeeds is the number of seeds that are compared with the revealed one.
const otherSeeds = 4

// SeedDecides reports whether any of a few other seeds leads to different moves in the same course. The side
// could then have tried seeds before committing, and chosen the moves. It returns false if a model played,
// and if the proof is invalid.
func (p *Proof) SeedDecides() bool {
	side, err := p.Side.offerSide()
	if err != nil || p.Reveal.Strategy == nil {
		return false
	}
	result, err := p.replay(side)
	if err != nil {
		return false
	}
	for i := range uint64(otherSeeds) {
		other, revealed := *p, *p.Reveal.Strategy
		revealed.Seed += i + 1
		other.Reveal.Strategy = &revealed
		if with, err := other.replay(side); err != nil || with != result {
			return true
		}
	}
	return false
}

// overPrice replays a strategy over the price alone.
type overPrice struct {
	proof  *Proof
	side   onchain.Side
	player onchain.Player
}

func (o *overPrice) respond(n *onchain.Account, turn int) (bargain.Action, error) {
	offers := make([]onchain.Offer, turn)
	for i := range offers {
		offers[i] = onchain.Offer{Side: onchain.Side(i % 2), Amount: o.proof.Offers[i].Amount}
	}
	o.player.Refuse = o.proof.refuses(turn)
	return o.player.Respond(n, o.side, offers, o.proof.Reveal.Strategy.Seed), nil
}

func (o *overPrice) compare(turn int, outcome bargain.Outcome) error {
	offer := o.proof.Offers[turn]
	if amount := o.player.Preferences.Domain().Issue(0).Amount(uint64(outcome)); amount != offer.Amount {
		return fmt.Errorf("%w: offer %d is %d, the strategy's is %d", ErrReplay, turn+1, offer.Amount, amount)
	}
	if offer.Metadata != o.proof.Commitment.Metadata() {
		return fmt.Errorf("%w: offer %d has other metadata than the commitment", ErrReplay, turn+1)
	}
	return nil
}

// refuses reports whether the offer before a turn includes terms beside the price. No strategy accepts these.
// turn is the number of offers before the turn.
func (p *Proof) refuses(turn int) bool {
	return turn > 0 && !onchain.Metadata(p.Offers[turn-1].Metadata).IsPriceOnly()
}

func (p *Proof) overPrice(side onchain.Side) (*overPrice, error) {
	named, err := p.Reveal.Strategy.strategy()
	if err != nil {
		return nil, err
	}
	revealed := p.Reveal.Strategy
	if err := revealed.checkTotal(side); err != nil {
		return nil, err
	}
	player, err := p.Terms.rules().Player(named, side, revealed.Opening, revealed.Reservation)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStrategy, err)
	}
	player.MaxTotal, player.Step = revealed.MaxTotal, revealed.Step
	return &overPrice{p, side, player}, nil
}
