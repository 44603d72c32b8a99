package llm

import (
	"strconv"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Value rates an outcome for the party: 1 for the best, 0 for no better than no agreement, negative for
// worse. JSON shows four decimals.
type Value fixed.Number

// MarshalJSON writes a number.
func (v Value) MarshalJSON() ([]byte, error) {
	return []byte((fixed.Number(v) / (fixed.One / 10_000) * (fixed.One / 10_000)).String()), nil
}

// UnmarshalJSON reads a number.
func (v *Value) UnmarshalJSON(text []byte) error {
	n, err := fixed.Parse(string(text))
	*v = Value(n)
	return err
}

// Offer is an offer in [Facts], with a price or, for several issues, terms by name. Prices are decimal
// numbers of tokens.
type Offer struct {
	Price string            `json:"price,omitempty"`
	Terms map[string]string `json:"terms,omitempty"`
	Value Value             `json:"value"`
}

// Candidate is a suggested offer.
type Candidate struct {
	// Number counts from 1.
	Number int `json:"candidate"`
	Offer
	// OtherValue estimates the counterparty's value, 0 to 1. It is nil for prices alone.
	OtherValue *Value `json:"other_value,omitempty"`
	// Origin describes the candidate.
	Origin string `json:"origin"`
}

// BandFacts describes the band in [Facts].
type BandFacts struct {
	// LeastValue limits offers and acceptances, MostValue limits offers. TargetValue belongs to the strategy's
	// offer.
	LeastValue  Value `json:"least_value"`
	TargetValue Value `json:"target_value"`
	MostValue   Value `json:"most_value"`
	// LowestPrice and HighestPrice limit the price. They are empty for several issues, and if no offer is
	// possible.
	LowestPrice  string `json:"lowest_price,omitempty"`
	HighestPrice string `json:"highest_price,omitempty"`
}

// Concession measures the counterparty's concessions in the party's values.
type Concession struct {
	Total Value `json:"total"`
	Last  Value `json:"last"`
	// ExpectedFinal extrapolates the average concession to the counterparty's last offer.
	ExpectedFinal Value `json:"expected_final_value"`
}

// Facts describe a turn to a model. They contain no counterparty text.
type Facts struct {
	Role string `json:"role"`
	// Round counts the offers so far, of at most Rounds.
	Round  int `json:"round"`
	Rounds int `json:"rounds"`
	// TimeLeftPercent is the remaining share of the negotiation's time.
	TimeLeftPercent int `json:"time_left_percent"`
	// Negotiation contains further numbers: see [Position].Facts.
	Negotiation any `json:"negotiation,omitempty"`
	// OwnOffers and OtherOffers list up to 20 offers, the oldest first.
	OwnOffers       []Offer     `json:"own_offers"`
	OtherOffers     []Offer     `json:"other_offers"`
	Standing        *Offer      `json:"standing_offer,omitempty"`
	OtherConcession *Concession `json:"other_concession,omitempty"`
	// StrategyMove is "offer", "accept" or "end".
	StrategyMove string      `json:"strategy_move"`
	Band         BandFacts   `json:"band"`
	Candidates   []Candidate `json:"candidates"`
	// Moves lists the permitted moves: "offer", "accept" or "reject".
	Moves []string `json:"moves"`
}

// shown limits the offers of each side.
const shown = 20

// scale converts outcomes into facts.
type scale struct {
	preferences *bargain.Preferences
	decimals    uint8
	// least and span describe the rational utilities.
	least, span fixed.Number
	priceOnly   bool
}

func newScale(p *bargain.Preferences, decimals uint8) scale {
	least, most, _ := p.Range()
	domain := p.Domain()
	return scale{p, decimals, least, most - least, domain.Len() == 1 && domain.Issue(0).Kind == bargain.KindPrice}
}

// value converts a utility.
func (s *scale) value(u fixed.Number) Value {
	if s.span <= 0 {
		return 0
	}
	return Value((u - s.least).Div(s.span))
}

func (s *scale) of(o bargain.Outcome) Value { return s.value(s.preferences.Of(o)) }

// offer converts an outcome.
func (s *scale) offer(o bargain.Outcome) Offer {
	offer, domain := Offer{Value: s.of(o)}, s.preferences.Domain()
	if s.priceOnly {
		offer.Price = s.text(0, uint64(o))
		return offer
	}
	offer.Terms = make(map[string]string, domain.Len())
	for at := range domain.Len() {
		offer.Terms[domain.Issue(at).Name] = s.text(at, domain.Value(o, at))
	}
	return offer
}

// text returns an issue's value: prices in tokens.
func (s *scale) text(at int, index uint64) string {
	issue := s.preferences.Domain().Issue(at)
	if issue.Kind != bargain.KindPrice {
		return issue.Text(index)
	}
	return tokens(issue.Amount(index), s.decimals)
}

// tokens returns an amount in tokens without trailing zeros.
func tokens(units uint64, decimals uint8) string {
	text := amount.Tokens{Units: units, Decimals: decimals}.Decimal()
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// outcome returns the outcome of an answer's terms, with prices rounded to the domain. It returns
// [bargain.NoOutcome] for missing, unknown or malformed values.
func (s *scale) outcome(terms map[string]string) bargain.Outcome {
	domain := s.preferences.Domain()
	if len(terms) != domain.Len() {
		return bargain.NoOutcome
	}
	indices := make([]uint64, domain.Len())
	for at := range indices {
		issue := domain.Issue(at)
		text, given := terms[issue.Name]
		index, known := s.index(issue, strings.TrimSpace(text))
		if !given || !known {
			return bargain.NoOutcome
		}
		indices[at] = index
	}
	return domain.Outcome(indices...)
}

// index returns the index of an issue's value, and false for malformed values. It does not check the issue's
// count.
func (s *scale) index(issue *bargain.Issue, text string) (uint64, bool) {
	switch issue.Kind {
	case bargain.KindPrice:
		units, ok := s.units(text)
		return issue.Nearest(units), ok
	case bargain.KindInteger:
		n, err := strconv.ParseInt(text, 10, 64)
		return uint64(n) - issue.First, err == nil
	case bargain.KindReal:
		n, err := fixed.Parse(text)
		if err != nil || n < issue.Number(0) || n > issue.Number(issue.Count-1) {
			return 0, false
		}
		distance := uint64(n) - issue.First
		return min((distance+issue.Tick/2)/issue.Tick, issue.Count-1), true
	}
	for index, name := range issue.Names {
		if name == text {
			return uint64(index), true
		}
	}
	return 0, false
}

// units returns a price in base units, without digits beyond the mint's decimals.
func (s *scale) units(text string) (uint64, bool) {
	if whole, fraction, found := strings.Cut(text, "."); found {
		text = whole
		if fraction = fraction[:min(len(fraction), int(s.decimals))]; fraction != "" {
			text += "." + fraction
		}
	}
	written, err := amount.Parse(text)
	if err != nil || written.InUnits() {
		return 0, false
	}
	units, err := written.In(s.decimals)
	return units, err == nil
}

// concession returns nil before the counterparty's second offer.
func (s *scale) concession(a *bargain.Assessment) *Concession {
	var offered []fixed.Number
	for _, offer := range a.State.History {
		if offer.By != a.Self {
			offered = append(offered, s.preferences.Of(offer.Outcome))
		}
	}
	if len(offered) < 2 || s.span <= 0 {
		return nil
	}
	first, last := offered[0], offered[len(offered)-1]
	// The counterparty makes every second further offer.
	further := (a.Rounds - a.Round) / 2
	expected := last.Add((last - first).Scale(int64(further), int64(len(offered)-1)))
	return &Concession{
		Total: Value((last - first).Div(s.span)), Last: Value((last - offered[len(offered)-2]).Div(s.span)),
		ExpectedFinal: s.value(expected),
	}
}

// offers returns the party's own latest offers, or the counterparty's.
func (s *scale) offers(a *bargain.Assessment, own bool) []Offer {
	list := []Offer{}
	for _, offer := range a.State.History {
		if (offer.By == a.Self) == own {
			list = append(list, s.offer(offer.Outcome))
		}
	}
	return list[max(len(list)-shown, 0):]
}
