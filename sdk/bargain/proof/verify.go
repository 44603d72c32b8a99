package proof

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gowebpki/jcs"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
)

// MaxSize is the largest file that Read accepts, in bytes.
const MaxSize = 1 << 16

// Offer is an offer of the negotiation. Offers alternate; the buyer makes the first.
type Offer struct {
	// Amount is the price in base units of the mint.
	Amount uint64 `json:"amount,string"`
	// Metadata are its 64 bytes of metadata. If zero, the offer has none.
	Metadata Metadata `json:"metadata,omitzero"`
}

// Last is the end of the negotiation, after the last offer.
type Last struct {
	// By is the side that has moved; empty for "expire".
	By Side `json:"by,omitempty"`
	// Move is "accept", "reject" or "expire".
	Move string `json:"move"`
}

// expiry is the end of a negotiation whose time was over.
var expiry = Last{Move: "expire"}

// Proof is a negotiation, with what one side had committed to.
type Proof struct {
	Version string `json:"version"`
	Terms   Terms  `json:"terms"`
	// Side is the side that proves its moves.
	Side   Side    `json:"side"`
	Offers []Offer `json:"offers"`
	// Last is nil if the file does not have the end of the negotiation: it may go on.
	Last       *Last  `json:"last,omitempty"`
	Commitment Hash   `json:"commitment"`
	Reveal     Reveal `json:"reveal"`
}

// Read reads a proof. It returns [ErrForm] for unknown, missing or repeated fields, and for numbers in
// another form, so that there is one reading of each file.
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

// Write writes a proof that Read reads.
func (p *Proof) Write(to io.Writer) error {
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	return encoder.Encode(p)
}

// Result is a valid proof.
type Result struct {
	// Replayed reports that the moves have been replayed. It is false for a model.
	Replayed bool
	// Offers is the number of replayed offers of the side. Ended reports that its acceptance or rejection has
	// been replayed, too.
	Offers int
	Ended  bool
	// Published reports that the side's first offer carries the commitment. A side without an offer has
	// nowhere to publish it: the other side must have received the commitment before the move.
	Published bool
}

// Verify checks that the reveal matches the side's commitment, and replays the side's moves. It returns
// [ErrTerms], [ErrCommitment], [ErrMetadata], [ErrStrategy] or [ErrReplay] with the details.
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
	if p.Reveal.Strategy != nil {
		result, err = p.replay(side)
	}
	result.Published = published && err == nil
	return result, err
}

// published reports whether the side has made an offer. It returns ErrMetadata if its first one does not
// carry the commitment.
func (p *Proof) published(side onchain.Side) (bool, error) {
	first := int(side) // the buyer opens
	if first >= len(p.Offers) {
		return false, nil
	}
	if carried, ok := onchain.Metadata(p.Offers[first].Metadata).Commitment(); !ok || p.Commitment != carried {
		return false, fmt.Errorf("%w: offer %d", ErrMetadata, first+1)
	}
	return true, nil
}

// check returns ErrTerms if the rules do not allow the terms, the offers or the last move.
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
		onchain.Apply(n, n.Turn(), offer.Amount, 0)
	}
	if p.Last == nil || *p.Last == expiry {
		return nil
	}
	by, err := p.Last.By.offerSide()
	switch {
	case p.Last.Move == expiry.Move:
		return fmt.Errorf("%w: the end is expire, which is no side's move", ErrTerms)
	case err != nil:
		return err
	case p.Last.Move != "accept" && p.Last.Move != "reject":
		return fmt.Errorf("%w: last move %q is neither accept nor reject", ErrTerms, p.Last.Move)
	case p.Last.Move == "accept" && !n.CanAccept(by):
		return fmt.Errorf("%w: the %s has no offer to accept", ErrTerms, p.Last.By)
	}
	return nil
}

// replay plays the side's turns.
func (p *Proof) replay(side onchain.Side) (Result, error) {
	player, err := p.player(side)
	if err != nil {
		return Result{}, err
	}
	result := Result{Replayed: true}
	n := p.Terms.rules().Negotiation()
	offers := []onchain.Offer{}
	carried := p.Commitment.Metadata()
	for i, offer := range p.Offers {
		by := n.Turn()
		if by == side {
			player.Refuse = p.refuses(i)
			action := player.Respond(n, side, offers, p.Reveal.Strategy.Seed)
			if action.Move != bargain.MoveOffer {
				return Result{}, fmt.Errorf("%w: offer %d is %d, the strategy's move is %s (%s)",
					ErrReplay, i+1, offer.Amount, action.Move, action.Reason)
			}
			domain := player.Preferences.Domain()
			if amount := domain.Issue(0).Amount(uint64(action.Outcome)); amount != offer.Amount {
				return Result{}, fmt.Errorf("%w: offer %d is %d, the strategy's is %d",
					ErrReplay, i+1, offer.Amount, amount)
			}
			if offer.Metadata != carried {
				return Result{}, fmt.Errorf("%w: offer %d has other metadata than the commitment", ErrReplay, i+1)
			}
			result.Offers++
		}
		onchain.Apply(n, by, offer.Amount, 0)
		offers = append(offers, onchain.Offer{Side: by, Amount: offer.Amount})
	}
	if p.Last == nil || p.Last.By != p.Side || n.Turn() != side {
		return result, nil
	}
	player.Refuse = p.refuses(len(p.Offers))
	want := map[string]bargain.Move{"accept": bargain.MoveAccept, "reject": bargain.MoveEnd}[p.Last.Move]
	if action := player.Respond(n, side, offers, p.Reveal.Strategy.Seed); action.Move != want {
		return Result{}, fmt.Errorf("%w: the last move is %s, the strategy's is %s (%s)",
			ErrReplay, p.Last.Move, action.Move, action.Reason)
	}
	result.Ended = true
	return result, nil
}

// refuses reports whether the offer before a turn has terms beside its price, which no strategy accepts. Turn
// is the number of offers before it.
func (p *Proof) refuses(turn int) bool {
	return turn > 0 && !onchain.Metadata(p.Offers[turn-1].Metadata).IsPriceOnly()
}

// player returns the player of the revealed strategy.
func (p *Proof) player(side onchain.Side) (onchain.Player, error) {
	revealed := p.Reveal.Strategy
	named, err := revealed.strategy()
	if err != nil {
		return onchain.Player{}, err
	}
	player, err := p.Terms.rules().Player(named, side, revealed.Opening, revealed.Reservation)
	if err != nil {
		return player, fmt.Errorf("%w: %w", ErrStrategy, err)
	}
	return player, nil
}
