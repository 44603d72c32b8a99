package mechanism

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Voter is a [SingleText] party.
type Voter struct {
	Preferences *bargain.Preferences
	// Temperature is the utility that the party risks at the start: it accepts a candidate worse by d with
	// the probability e^(-d/T), where T falls from Temperature to 0 over the rounds. If zero, the party only
	// climbs: it accepts no worse candidate.
	Temperature fixed.Number
}

// Rule is how a mediator decides about a candidate.
type Rule uint8

// The rules.
const (
	// RuleVeto replaces the text if all parties accept the candidate.
	RuleVeto Rule = iota
	// RuleSum replaces the text according to the parties' utility sum. The mediator knows only the sum, not
	// the individual utilities, as in a secure sum. It replaces the text if the sum does not fall, or else
	// with the probability e^(-d/T), where T falls from SingleText.Temperature to 0. A search returns the
	// rational text with the highest sum on the way. Among the undominated results, the agreement divides the
	// total gain over the reservation values most evenly: SFMP's approximated fairness.
	RuleSum
)

// SingleText is mediation with a single text: a mediator changes it at random, and the parties vote on every
// change. The final text, if rational for all parties, is the agreement.
//
// Sources: Klein, Faratin, Sayama, Bar-Yam: Negotiating Complex Contracts (2003) for the annealing parties;
// Fujita, Ito, Klein: A Secure and Fair Protocol that Addresses Weaknesses of the Nash Bargaining Solution in
// Nonlinear Negotiation (2012), SFMP, for RuleSum; NegMAS 0.16, VetoSTMechanism, for Jump with RuleVeto.
//
// The mediator's calculations are simulated: SFMP uses a multi-party protocol that conceals the utilities.
type SingleText struct {
	// Rounds counts the candidates per search.
	Rounds int
	Rule   Rule
	// Searches counts the RuleSum searches, all starting at a random text. If zero, a single search runs.
	Searches int
	// Temperature is the mediator's temperature under RuleSum, in utility units. If zero, the mediator
	// climbs.
	Temperature fixed.Number
	// Jump selects random outcomes as candidates. If false, candidates change a single issue's value.
	Jump bool
}

// Run runs a session. The result's History contains the texts on the way, with By set to -1. It returns
// [ErrConfig] if there are no rounds, fewer than two parties, or parties with different domains.
func (s SingleText) Run(seed uint64, voters ...Voter) (bargain.Result, error) {
	if s.Rounds <= 0 || len(voters) < 2 {
		return bargain.Result{}, fmt.Errorf("%w: %d rounds and %d parties", ErrConfig, s.Rounds, len(voters))
	}
	if s.Searches < 0 || s.Searches > 1 && s.Rule != RuleSum {
		return bargain.Result{}, fmt.Errorf("%w: %d searches; only RuleSum has several", ErrConfig, s.Searches)
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
	searches := max(m.Searches, 1)
	result := bargain.Result{
		Agreement: bargain.NoOutcome, By: -1, Step: searches * m.Rounds, Time: fixed.One,
	}
	var found []bargain.Outcome
	for search := range searches {
		texts := m.search(search * m.Rounds)
		result.History = append(result.History, texts...)
		text := texts[len(texts)-1].Outcome
		if m.Rule == RuleSum {
			text = m.highestSum(texts)
		}
		if text != bargain.NoOutcome && m.isRational(text) {
			found = append(found, text)
		}
	}
	if len(found) > 0 {
		result.Ending, result.Agreement = bargain.EndingAgreement, m.fairest(found)
	}
	return result
}

// search returns the texts found by a search; the first candidate is numbered step.
func (m *mediation) search(step int) []bargain.Offer {
	text := bargain.Outcome(m.mediator.Below(m.domain.Size()))
	texts := []bargain.Offer{{By: -1, Step: step, Outcome: text}}
	for round := range m.Rounds {
		time := fixed.Ratio(int64(round), int64(m.Rounds))
		if candidate := m.candidate(text); m.replaces(text, candidate, time) {
			text = candidate
			texts = append(texts, bargain.Offer{By: -1, Step: step + round, Time: time, Outcome: text})
		}
	}
	return texts
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
		// Every party votes, to keep a party's random sequence independent of the remaining votes.
		loss := voter.Preferences.Of(text) - voter.Preferences.Of(candidate)
		all = risks(loss, voter.Temperature, time, m.randoms[self]) && all
	}
	return all
}

// risks reports whether a loss is accepted: Metropolis' criterion with linearly falling temperature.
func risks(loss, temperature, time fixed.Number, random *bargain.Random) bool {
	if loss <= 0 {
		return true
	}
	temperature = temperature.Mul(fixed.One - time)
	return temperature > 0 && random.Fraction() < fixed.Exp(-loss.Div(temperature))
}

// highestSum returns the first rational text with the highest utility sum, or NoOutcome if none is rational.
func (m *mediation) highestSum(texts []bargain.Offer) bargain.Outcome {
	best, most := bargain.NoOutcome, fixed.Number(0)
	for _, offer := range texts {
		if !m.isRational(offer.Outcome) {
			continue
		}
		sum := fixed.Number(0)
		for _, voter := range m.voters {
			sum = sum.Add(voter.Preferences.Of(offer.Outcome))
		}
		if best == bargain.NoOutcome || sum > most {
			best, most = offer.Outcome, sum
		}
	}
	return best
}

// fairest returns the first undominated text that divides the gains most evenly.
func (m *mediation) fairest(texts []bargain.Outcome) bargain.Outcome {
	best, least := bargain.NoOutcome, (*big.Rat)(nil)
	for _, text := range texts {
		if slices.ContainsFunc(texts, func(other bargain.Outcome) bool { return m.dominates(other, text) }) {
			continue
		}
		if uneven := m.unevenness(text); least == nil || uneven.Cmp(least) < 0 {
			best, least = text, uneven
		}
	}
	return best
}

// dominates reports whether text is better than other for a party, and worse for none.
func (m *mediation) dominates(text, other bargain.Outcome) bool {
	isBetter := false
	for _, voter := range m.voters {
		gain := voter.Preferences.Of(text) - voter.Preferences.Of(other)
		if gain < 0 {
			return false
		}
		isBetter = isBetter || gain > 0
	}
	return isBetter
}

// unevenness returns the sum of the parties' squared shares in the total gain. It is lowest if all shares are
// equal, and orders texts as the shares' variance does. If there is no gain at all, it is 1, the maximum. The
// squares of large gains exceed the [fixed.Number] range.
func (m *mediation) unevenness(text bargain.Outcome) *big.Rat {
	sum, squares := new(big.Int), new(big.Int)
	for _, voter := range m.voters {
		gain := big.NewInt(int64(voter.Preferences.Of(text) - voter.Preferences.Reservation()))
		sum.Add(sum, gain)
		squares.Add(squares, new(big.Int).Mul(gain, gain))
	}
	if sum.Sign() == 0 {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).SetFrac(squares, new(big.Int).Mul(sum, sum))
}

func (m *mediation) isRational(o bargain.Outcome) bool {
	for _, voter := range m.voters {
		if !voter.Preferences.IsRational(o) {
			return false
		}
	}
	return true
}
