package llm

import (
	"time"

	"github.com/haggle-protocol/haggle/sdk/bargain"
)

// Position is a turn in any protocol.
type Position struct {
	// Negotiation identifies the negotiation in budget, cache and records.
	Negotiation string
	// Role names the party's part, such as "buyer".
	Role string
	// Assessment comes from [bargain.Assess].
	Assessment bargain.Assessment
	// Decimals converts prices: a token is ten to this power of base units.
	Decimals uint8
	// TimeLeftPercent is the remaining share of the negotiation's time, 0 to 100.
	TimeLeftPercent int
	// Deadline limits the decision. With less than a second left, the strategy decides alone.
	Deadline time.Time
	// Last reports whether this turn may be the party's last one although rounds remain.
	Last bool
	// NoReject overrides [Options].MayWalkAway for this turn.
	NoReject bool
	// Alone, if not empty, makes the strategy decide alone. Records show it as the reason.
	Alone string
	// Model asks only the model with this name, of those of the chooser. If empty, all are asked.
	Model string
	// Principal replaces [Options].Principal for this turn, up to MaxPrincipal bytes. If empty, that one is used.
	Principal string
	// Temperature is the temperature of the requests: see [Request].
	Temperature *float64
	// Facts adds numbers to the facts, as a value for package json. Counterparty text belongs in Quotes.
	Facts any
	// Quotes adds text of the protocol.
	Quotes []Quote
}

// turn is a position with its permitted moves.
type turn struct {
	*Position
	assessment *bargain.Assessment
	scale      scale
	band       band
	// banded reports whether a band exists.
	banded     bool
	candidates []candidate
	other      bargain.Model
	// standing is nil if no offer can be accepted.
	standing             *bargain.Outcome
	mayAccept, mayReject bool
}

func (c *Chooser) newTurn(p *Position) *turn {
	a := &p.Assessment
	t := &turn{Position: p, assessment: a, mayReject: c.options.MayWalkAway && !p.NoReject}
	if a.Preferences == nil {
		return t
	}
	t.scale = newScale(a.Preferences, p.Decimals)
	if a.State.Offer != bargain.NoOutcome && a.State.By != a.Self {
		t.standing = &a.State.Offer
	}
	if t.band, t.banded = newBand(a, c.options.SlackBps, c.options.LeadBps); !t.banded {
		return t
	}
	t.mayAccept = t.standing != nil &&
		(a.Move.Move == bargain.MoveAccept || a.Preferences.Of(*t.standing) >= t.band.floor)
	if a.CanOffer() {
		t.candidates, t.other = suggest(&t.band, a, t.scale.priceOnly)
	}
	return t
}

// moves returns the permitted moves of a model.
func (t *turn) moves() (list []string) {
	if len(t.candidates) > 0 {
		list = append(list, moveOffer)
	}
	if t.mayAccept {
		list = append(list, moveAccept)
	}
	if t.mayReject {
		list = append(list, moveReject)
	}
	return list
}

// The reasons why the strategy decides alone.
const (
	aloneNoBand  = "the strategy has no offer"
	aloneLast    = "the strategy accepts, and there may be no further turn"
	aloneForced  = "only one move is possible"
	aloneNoUsage = "no model has given a usable answer"
)

// alone returns why no model is asked, or an empty text.
func (t *turn) alone() string {
	switch {
	case t.Alone != "":
		return t.Alone
	case !t.banded:
		return aloneNoBand
	case t.assessment.Move.Move == bargain.MoveAccept && (t.Last || t.assessment.State.Last):
		return aloneLast
	}
	switch moves := t.moves(); {
	case len(moves) == 0, len(moves) == 1 && moves[0] == moveOffer && t.isForced():
		return aloneForced
	}
	return ""
}

// isForced reports whether the band contains a single offer.
func (t *turn) isForced() bool {
	if !t.scale.priceOnly {
		return false
	}
	first, last, ok := t.band.interval(t.assessment.Target)
	return ok && first == last
}

// facts requires a band.
func (t *turn) facts() *Facts {
	a, s := t.assessment, &t.scale
	f := &Facts{
		Role: t.Role, Round: a.Round, Rounds: a.Rounds, TimeLeftPercent: t.TimeLeftPercent, Negotiation: t.Facts,
		OwnOffers: s.offers(a, true), OtherOffers: s.offers(a, false), OtherConcession: s.concession(a),
		StrategyMove: a.Move.Move.String(), Moves: t.moves(), Candidates: []Candidate{},
		Band: BandFacts{
			LeastValue: s.value(t.band.floor), TargetValue: s.of(a.Target), MostValue: s.value(t.band.ceiling),
		},
	}
	if t.standing != nil {
		f.Standing = new(s.offer(*t.standing))
	}
	if first, last, ok := t.band.interval(a.Target); ok && s.priceOnly && a.CanOffer() {
		f.Band.LowestPrice, f.Band.HighestPrice = s.text(0, first), s.text(0, last)
	}
	for i, c := range t.candidates {
		shown := Candidate{Number: i + 1, Offer: s.offer(c.outcome), Origin: c.origin}
		if t.other != nil {
			shown.OtherValue = new(Value(t.other.Of(c.outcome)))
		}
		f.Candidates = append(f.Candidates, shown)
	}
	return f
}
