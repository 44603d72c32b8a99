package proof

import (
	"fmt"
	"unicode/utf8"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/scenario"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// maxIssues limits the domain and profile text, in bytes.
const maxIssues = 1 << 18

// maxCost limits the cost of hyper-rectangle profiles: the number of ranges times the number of outcomes, up
// to [bargain.MaxSorted]. A search compares every outcome with every range: at the limit this takes seconds.
const maxCost = 1 << 26

// Issues holds the parameters for a strategy over several issues. The strategy's Opening and Reservation must
// be 0.
type Issues struct {
	// Domain and Profile hold the file contents, in GENIUS' XML, or NegMAS' YAML or JSON.
	Domain  string `json:"domain"`
	Profile string `json:"profile"`
	// Price is the name of the integer issue that is the price. One value counts Unit base units of the mint.
	Price string `json:"price"`
	Unit  uint64 `json:"unit,string"`
}

// Preferences returns the preferences described by the texts, over the domain with the price. It returns
// [ErrStrategy] if a text is unreadable, or searching the profile's outcomes would take too long.
func (i *Issues) Preferences() (*bargain.Preferences, error) {
	for _, text := range []struct{ name, content string }{{"domain", i.Domain}, {"profile", i.Profile}} {
		if len(text.content) > maxIssues || !utf8.ValidString(text.content) {
			return nil, fmt.Errorf("%w: the %s is not UTF-8, or larger than %d bytes",
				ErrStrategy, text.name, maxIssues)
		}
	}
	domain, err := scenario.ReadDomain([]byte(i.Domain), scenario.Options{})
	if err != nil {
		return nil, fmt.Errorf("%w: domain: %w", ErrStrategy, err)
	}
	profile, err := scenario.ReadProfile(domain, []byte(i.Profile))
	if err != nil {
		return nil, fmt.Errorf("%w: profile: %w", ErrStrategy, err)
	}
	if err := checkCost(domain, profile.Utility()); err != nil {
		return nil, err
	}
	priced, err := terms.Priced(profile, i.Price, i.Unit)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStrategy, err)
	}
	return priced, nil
}

// checkCost returns ErrStrategy if a utility's cost exceeds maxCost. It counts only hyper-rectangles: the
// profile size bounds all other utilities.
func checkCost(domain *bargain.Domain, u bargain.Utility) error {
	boxes, is := u.(*utility.HyperRectangle)
	if !is {
		return nil
	}
	ranges, outcomes := uint64(0), min(domain.Size(), bargain.MaxSorted)
	for _, box := range boxes.Rectangles() {
		ranges += uint64(max(len(box.Ranges), 1))
	}
	if ranges > maxCost/outcomes {
		return fmt.Errorf("%w: profile: %d ranges of hyper-rectangles; over %d outcomes the limit is %d",
			ErrStrategy, ranges, domain.Size(), maxCost/outcomes)
	}
	return nil
}

// overIssues replays a strategy over several issues.
type overIssues struct {
	proof  *Proof
	side   onchain.Side
	player onchain.Player
	// outcomes lists the offers before the turn, with NoOutcome for offers unknown to the side.
	outcomes []bargain.Outcome
	// answers is the hash of the document answered by the side in this turn, or zero if there is none.
	answers [32]byte
	result  *Result
}

func (p *Proof) overIssues(side onchain.Side, result *Result) (*overIssues, error) {
	revealed := p.Reveal.Strategy
	if revealed.Opening != 0 || revealed.Reservation != 0 {
		return nil, fmt.Errorf("%w: with several issues, the opening and the reservation must be 0", ErrStrategy)
	}
	if revealed.Step != 0 {
		return nil, fmt.Errorf("%w: step is for a price alone", ErrStrategy)
	}
	if err := revealed.checkTotal(side); err != nil {
		return nil, err
	}
	named, err := p.Reveal.Strategy.strategy()
	if err != nil {
		return nil, err
	}
	preferences, err := revealed.Issues.Preferences()
	if err != nil {
		return nil, err
	}
	return &overIssues{
		proof: p, side: side, result: result, player: onchain.Player{
			Strategy: named, Preferences: preferences, MaxTotal: revealed.MaxTotal,
		},
	}, nil
}

// respond returns the strategy's move after turn offers.
func (o *overIssues) respond(n *onchain.Account, turn int) (bargain.Action, error) {
	standing := bargain.NoOutcome
	if o.answers = [32]byte{}; turn > 0 {
		var err error
		if standing, err = o.read(turn - 1); err != nil {
			return bargain.Action{}, err
		}
		o.outcomes = append(o.outcomes, standing)
		if !o.player.CanPay(n, o.side) {
			standing = bargain.NoOutcome
		}
	}
	return o.player.Replay(n, o.side, o.outcomes, standing, o.proof.Reveal.Strategy.Seed), nil
}

// read returns the outcome of an opponent's offer if the side held the offer's document at the following
// turn. The document of the side's next offer states this, and the hash on chain fixes it. After the last
// offer there is no such document: then the proof's own text decides.
func (o *overIssues) read(at int) (bargain.Outcome, error) {
	offer := o.proof.Offers[at]
	hash, has := onchain.Metadata(offer.Metadata).Document()
	if !has {
		return bargain.NoOutcome, nil // a price alone; the player answers with no document
	}
	domain := o.player.Preferences.Domain()
	outcome, invalid := terms.Check(domain, []byte(offer.Document), hash, offer.Amount)
	if offer.Document != "" && invalid != nil {
		o.result.Invalid++
	}
	if at+1 == len(o.proof.Offers) {
		if o.answers = hash; invalid != nil {
			o.answers, o.result.LastUnread = [32]byte{}, offer.Document == ""
		}
		return outcome, nil
	}
	own, err := terms.CommittedIn([]byte(o.proof.Offers[at+1].Document))
	switch {
	case err != nil:
		return bargain.NoOutcome, fmt.Errorf("%w: offer %d: %w", ErrReplay, at+2, err)
	case own.Answers == ([32]byte{}):
		if offer.Document == "" || invalid == nil {
			o.result.Unread++
		}
		return bargain.NoOutcome, nil
	case own.Answers != hash:
		return bargain.NoOutcome, fmt.Errorf("%w: offer %d answers another document than that of offer %d",
			ErrReplay, at+2, at+1)
	case invalid != nil:
		return bargain.NoOutcome, fmt.Errorf("%w: offer %d answers the document of offer %d: %w",
			ErrReplay, at+2, at+1, invalid)
	}
	o.answers = hash
	return outcome, nil
}

// compare compares a recorded offer of the side with the strategy's.
func (o *overIssues) compare(turn int, outcome bargain.Outcome) error {
	domain, offer := o.player.Preferences.Domain(), o.proof.Offers[turn]
	amount, err := terms.Price(domain, outcome)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStrategy, err)
	}
	if amount != offer.Amount {
		return fmt.Errorf("%w: offer %d is %d, the strategy's is %d", ErrReplay, turn+1, offer.Amount, amount)
	}
	committed := terms.Committed{Commitment: o.proof.Commitment, Answers: o.answers}
	text, _, err := terms.WriteCommitted(domain, outcome, committed)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStrategy, err)
	}
	// Proof.check has compared the hash with the metadata.
	if string(text) != offer.Document {
		return fmt.Errorf("%w: the document of offer %d is not that of the strategy's offer: %s",
			ErrReplay, turn+1, domain.Text(outcome))
	}
	o.outcomes = append(o.outcomes, outcome)
	return nil
}
