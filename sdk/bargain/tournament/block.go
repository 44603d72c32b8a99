package tournament

import (
	"fmt"
	"math"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
)

// Buckets counts the equal parts of relative time, for curves.
const Buckets = 20

// Block holds the session results for a strategy in the first role, in a single scenario. It survives a JSON
// round trip unchanged.
type Block struct {
	// Number is the block's plan number, from 0.
	Number   int       `json:"block"`
	Scenario string    `json:"scenario"`
	Sessions []Session `json:"sessions"`
	// Curves holds the offers per entrant in the plan.
	Curves []Curve `json:"curves"`
}

// Session is a session's result. Arrays hold the first role's value, then the second's.
type Session struct {
	// Strategies holds the entrants' numbers.
	Strategies [2]int         `json:"strategies"`
	Repetition int            `json:"repetition"`
	Seed       uint64         `json:"seed"`
	Ending     bargain.Ending `json:"ending"`
	// By is the role that ended the session, or -1 at the deadline.
	By int `json:"by"`
	// Step and Time are when it ended. Offers counts the offers.
	Step   int          `json:"step"`
	Offers int          `json:"offers"`
	Time   fixed.Number `json:"time"`
	// Agreement is the outcome, or [bargain.NoOutcome]. AgreementText is empty if there is no agreement.
	Agreement     bargain.Outcome `json:"agreement"`
	AgreementText string          `json:"agreement_text"`
	// Utilities are undiscounted. With no agreement, they are the reservation values.
	Utilities [2]fixed.Number `json:"utilities"`
	// Values are discounted. With Haggle's rules decay and fee are subtracted, as parts of the escrow.
	Values [2]fixed.Number `json:"values"`
	// Advantages holds the scores: see [Advantage].
	Advantages [2]fixed.Number `json:"advantages"`
	// NashDistance and ParetoDistance are the Euclidean distances from the agreement's undiscounted utilities
	// to the Nash bargaining solution and the Pareto frontier. With no agreement, or if the domain is too
	// large, they are nil. NashDistance is also nil if no outcome suits both parties.
	NashDistance   *fixed.Number `json:"nash_distance,omitempty"`
	ParetoDistance *fixed.Number `json:"pareto_distance,omitempty"`
	// Settlement divides the escrow, with Haggle's rules.
	Settlement onchain.Settlement `json:"settlement"`
}

// Curve sums the levels of a strategy's own offers, per relative time bucket. A level is the utility relative
// to the range from the reservation value to the best outcome, in millionths.
type Curve struct {
	Levels [Buckets]int64 `json:"levels"`
	Offers [Buckets]int64 `json:"offers"`
}

// levelUnit is a [Curve]'s level step.
const levelUnit = fixed.One / 1_000_000

func (c *Curve) add(history []bargain.Offer, self int, preferences *bargain.Preferences) {
	for _, offer := range history {
		if offer.By != self {
			continue
		}
		at := bucket(offer.Time)
		c.Levels[at] += int64(preferences.Level(preferences.Of(offer.Outcome)) / levelUnit)
		c.Offers[at]++
	}
}

func (c *Curve) merge(other *Curve) {
	for at := range c.Levels {
		c.Levels[at] += other.Levels[at]
		c.Offers[at] += other.Offers[at]
	}
}

// bucket returns the relative time's bucket, 0 to Buckets-1.
func bucket(time fixed.Number) int {
	return int(min(time.Clamp(0, fixed.One)*Buckets/fixed.One, Buckets-1))
}

// Advantage returns a value's score: the gain over no agreement, relative to the greatest possible gain. It
// is 1 for the best outcome at once, 0 for no agreement at no cost, and negative for anything worse. It is
// also 0 if no outcome is better than no agreement.
func Advantage(preferences *bargain.Preferences, value fixed.Number) fixed.Number {
	_, most, ok := preferences.Range()
	reservation := preferences.Reservation()
	if !ok || most == reservation {
		return 0
	}
	return value.Sub(reservation).Div(most.Sub(reservation))
}

// Play plays all of a block's sessions.
func (p *Plan) Play(block int) (*Block, error) {
	scenario, _ := p.position(block)
	s, err := p.Scenarios.Scenario(scenario)
	if err != nil {
		return nil, err
	}
	return p.play(block, s)
}

func (p *Plan) play(number int, s *Scenario) (*Block, error) {
	_, first := p.position(number)
	block := &Block{
		Number: number, Scenario: s.Name, Curves: make([]Curve, len(p.Entrants)),
		Sessions: make([]Session, 0, p.BlockSessions()),
	}
	for second := range p.Entrants {
		if second == first && !p.SelfPlay {
			continue
		}
		for repetition := range p.repetitions() {
			seed := p.sessionSeed(s.Name, first, second, repetition)
			result, settlement, err := s.run(p, seed, p.Entrants[first].Strategy,
				p.Entrants[second].Strategy, nil)
			if err == nil {
				err = result.Err
			}
			if err != nil {
				return nil, fmt.Errorf("scenario %q: %q against %q: %w", s.Name,
					p.Entrants[first].Name, p.Entrants[second].Name, err)
			}
			session := s.session(&result, settlement)
			session.Strategies, session.Repetition, session.Seed = [2]int{first, second}, repetition, seed
			block.Sessions = append(block.Sessions, session)
			for role, entrant := range session.Strategies {
				block.Curves[entrant].add(result.History, role, s.Preferences[role])
			}
		}
	}
	return block, nil
}

// run plays a session from a plan. It calls observe, if not nil, with every move.
func (s *Scenario) run(
	p *Plan, seed uint64, first, second bargain.Strategy, observe func(by int, action bargain.Action),
) (bargain.Result, onchain.Settlement, error) {
	var moves [2]func(bargain.Action)
	if observe != nil {
		for role := range moves {
			moves[role] = func(action bargain.Action) { observe(role, action) }
		}
	}
	first, err := s.informed(first)
	if err == nil {
		second, err = s.informed(second)
	}
	if err != nil {
		return bargain.Result{}, onchain.Settlement{}, err
	}
	if s.Rules != nil {
		result, err := s.Rules.Run(seed,
			onchain.Player{
				Strategy: first, Preferences: s.Preferences[0], Opening: s.Opening[0], Step: p.PriceStep,
				Observe: moves[0],
			},
			onchain.Player{
				Strategy: second, Preferences: s.Preferences[1], Opening: s.Opening[1], Step: p.PriceStep,
				Observe: moves[1],
			})
		return result.Result, result.Settlement, err
	}
	if observe != nil {
		first, second = observed{first, moves[0]}, observed{second, moves[1]}
	}
	result, err := mechanism.Alternating{Steps: p.steps()}.Run(seed,
		mechanism.Party{Strategy: first, Preferences: s.Preferences[0]},
		mechanism.Party{Strategy: second, Preferences: s.Preferences[1]})
	return result, onchain.Settlement{}, err
}

// session converts a result.
func (s *Scenario) session(result *bargain.Result, settlement onchain.Settlement) Session {
	session := Session{
		Ending: result.Ending, By: result.By, Step: result.Step, Time: result.Time,
		Offers: len(result.History), Agreement: result.Agreement, Settlement: settlement,
	}
	if result.Agreement != bargain.NoOutcome {
		session.AgreementText = s.Preferences[0].Domain().Text(result.Agreement)
	}
	for role, preferences := range s.Preferences {
		session.Utilities[role] = preferences.Of(result.Agreement)
		session.Values[role] = preferences.ValueAt(result.Agreement, result.Step, result.Time)
	}
	if s.Rules != nil {
		session.Values[buyerSide] -= part(settlement.Decay, s.Rules.Escrow)
		session.Values[sellerSide] -= part(settlement.Fee, s.Rules.Escrow)
	}
	for role, preferences := range s.Preferences {
		session.Advantages[role] = Advantage(preferences, session.Values[role])
	}
	s.measure(&session)
	return session
}

// part returns amount relative to escrow.
func part(amount, escrow uint64) fixed.Number {
	for escrow > math.MaxInt64 {
		amount, escrow = amount/2, escrow/2
	}
	return fixed.Ratio(int64(amount), int64(max(escrow, 1)))
}
