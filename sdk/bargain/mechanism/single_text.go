package mechanism

import (
	"fmt"
	"math/big"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Voter is a party of a [SingleText] session.
type Voter struct {
	Preferences *bargain.Preferences
	// Temperature is how much utility the party risks at the start: it accepts a candidate that is worse by d
	// with the probability e^(-d/T), where T falls from Temperature to 0 over the rounds. If zero, it accepts
	// no worse candidate: it climbs.
	Temperature fixed.Number
}

// Rule is how a mediator decides about a candidate.
type Rule uint8

// The rules.
const (
	// RuleVeto replaces the text if all parties accept the candidate.
	RuleVeto Rule = iota
	// RuleSum replaces the text by the parties' sum of utilities, which the mediator knows without the single
	// ones, as by a secure sum: if it does not fall, or with the probability e^(-d/T), where T falls from
	// SingleText.Temperature to 0. At the end the text is that with the highest product of the parties' gains
	// over their reservation values, the Nash product, among all rational texts on the way.
	RuleSum
)

// SingleText is mediation with a single text: a mediator changes it at random, and the parties vote on each
// change. A text that is rational for all parties at the end is the agreement.
//
// Sources: Klein, Faratin, Sayama, Bar-Yam: Negotiating Complex Contracts (2003) for the annealing parties;
// Fujita, Ito, Klein: A Secure and Fair Protocol that Addresses Weaknesses of the Nash Bargaining Solution in
// Nonlinear Negotiation (2012), SFMP, for RuleSum; NegMAS 0.16, VetoSTMechanism, for Jump with RuleVeto.
//
// RuleSum differs from SFMP: there is no cryptography, and SFMP selects the text that divides the sum most
// evenly, from the efficient results of many searches. Among the texts of one search that would often be an
// early one with a low sum.
type SingleText struct {
	// Rounds is the number of candidates.
	Rounds int
	Rule   Rule
	// Temperature is that of the mediator with RuleSum, in units of utility. If zero, it climbs.
	Temperature fixed.Number
	// Jump reports that a candidate is a random outcome. If false, it is the text with another value of one
	// issue.
	Jump bool
}

// Run runs a session; the texts on the way are the result's History, and By is -1 in each. It returns
// [ErrConfig] if there are no rounds, fewer than two parties, or parties with different domains.
func (s SingleText) Run(seed uint64, voters ...Voter) (bargain.Result, error) {
	if s.Rounds <= 0 || len(voters) < 2 {
		return bargain.Result{}, fmt.Errorf("%w: %d rounds and %d parties", ErrConfig, s.Rounds, len(voters))
	}
	for i, voter := range voters {
		if voter.Preferences == nil || voter.Preferences.Domain() != voters[0].Preferences.Domain() {
			err := fmt.Errorf("%w: party %d: no preferences, or another domain", ErrConfig, i)
			return bargain.Result{}, err
		}
	}
	m := &mediation{SingleText: s, voters: voters, domain: voters[0].Preferences.Domain()}
	m.mediator = bargain.NewRandom(seed, uint64(len(voters)))
	for self := range voters {
		m.randoms = append(m.randoms, bargain.NewRandom(seed, uint64(self)))
	}
	return m.run(), nil
}

type mediation struct {
	SingleText
	voters   []Voter
	randoms  []*bargain.Random
	mediator *bargain.Random
	domain   *bargain.Domain
}

func (m *mediation) run() bargain.Result {
	text := bargain.Outcome(m.mediator.Below(m.domain.Size()))
	result := bargain.Result{Agreement: bargain.NoOutcome, By: -1, Step: m.Rounds, Time: fixed.One}
	result.History = append(result.History, bargain.Offer{By: -1, Outcome: text})
	for round := range m.Rounds {
		time := fixed.Ratio(int64(round), int64(m.Rounds))
		if candidate := m.candidate(text); m.replaces(text, candidate, time) {
			text = candidate
			offer := bargain.Offer{By: -1, Step: round, Time: time, Outcome: text}
			result.History = append(result.History, offer)
		}
	}
	if m.Rule == RuleSum {
		text = m.highestProduct(result.History)
	}
	if m.isRational(text) {
		result.Ending, result.Agreement = bargain.EndingAgreement, text
	}
	return result
}

// candidate returns a random change of the text.
func (m *mediation) candidate(text bargain.Outcome) bargain.Outcome {
	if m.Jump {
		return bargain.Outcome(m.mediator.Below(m.domain.Size()))
	}
	at := int(m.mediator.Below(uint64(m.domain.Len())))
	return m.domain.With(text, at, m.mediator.Below(m.domain.Issue(at).Count))
}

func (m *mediation) replaces(text, candidate bargain.Outcome, time fixed.Number) bool {
	if m.Rule == RuleSum {
		loss := fixed.Number(0)
		for _, voter := range m.voters {
			loss = loss.Add(voter.Preferences.Of(text).Sub(voter.Preferences.Of(candidate)))
		}
		return risks(loss, m.Temperature, time, m.mediator)
	}
	all := true
	for self, voter := range m.voters {
		// Every party votes, so that its random numbers do not depend on the others' votes.
		loss := voter.Preferences.Of(text) - voter.Preferences.Of(candidate)
		all = risks(loss, voter.Temperature, time, m.randoms[self]) && all
	}
	return all
}

// risks reports whether a loss is accepted: Metropolis' criterion at a temperature that falls linearly.
func risks(loss, temperature, time fixed.Number, random *bargain.Random) bool {
	if loss <= 0 {
		return true
	}
	temperature = temperature.Mul(fixed.One - time)
	return temperature > 0 && random.Fraction() < fixed.Exp(-loss.Div(temperature))
}

// highestProduct returns the rational text with the highest product of gains, the first of several; if none
// is rational, the last text. The products of many parties are beyond the range of a [fixed.Number].
func (m *mediation) highestProduct(texts []bargain.Offer) bargain.Outcome {
	best, most := texts[len(texts)-1].Outcome, (*big.Int)(nil)
	for _, offer := range texts {
		if !m.isRational(offer.Outcome) {
			continue
		}
		product := big.NewInt(1)
		for _, voter := range m.voters {
			gain := voter.Preferences.Of(offer.Outcome) - voter.Preferences.Reservation()
			product.Mul(product, big.NewInt(int64(gain)))
		}
		if most == nil || product.Cmp(most) > 0 {
			best, most = offer.Outcome, product
		}
	}
	return best
}

func (m *mediation) isRational(o bargain.Outcome) bool {
	for _, voter := range m.voters {
		if !voter.Preferences.IsRational(o) {
			return false
		}
	}
	return true
}
