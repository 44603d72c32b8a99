package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/internal/fifocache"
)

// Chooser lets language models choose moves within a strategy's band. It uses no chain: [Player] connects it
// to an agent. It is safe for concurrent use.
type Chooser struct {
	options Options
	callers []*caller
	ledger  *ledger
	cache   *fifocache.Map[[32]byte, []called]
}

// cached limits the stored answers.
const cached = 10_000

// NewChooser returns a chooser. It ignores the options Strategy, Opening, Reservation and Seed, because
// callers assess the turns themselves. It returns an error for a missing model, budget or price, and for
// options out of range.
func NewChooser(model Model, options Options) (*Chooser, error) {
	models := append([]Model{model}, options.Ensemble...)
	if slices.Contains(models, nil) {
		return nil, errors.New("llm: model not set")
	}
	options, err := options.withDefaults(models)
	if err != nil {
		return nil, err
	}
	c := &Chooser{
		options: options, ledger: newLedger(options.Budget), cache: fifocache.NewMap[[32]byte, []called](cached),
	}
	for _, model := range models {
		c.callers = append(c.callers, newCaller(model, c.ledger, &options))
	}
	return c, nil
}

// Instructions returns the instructions for turns without quotes, principal's text included, such as for a
// commitment to the prompt.
func (c *Chooser) Instructions() string { return instructions(rules, c.options.Principal, false) }

// Spending returns the counts of finished requests, sorted by negotiation and model. After 10,000
// negotiations, those idle for 48 hours are added up under an empty name.
func (c *Chooser) Spending() []Spending { return c.ledger.spending() }

// Charge counts tokens and a cost that an earlier process used today against the limits of all negotiations. Neither
// may be negative.
func (c *Chooser) Charge(tokens int64, cost MicroDollars) { c.ledger.charge(tokens, cost) }

// Choose returns the party's move before the position's deadline. Models choose it within the band; if they
// fail, Choose returns the strategy's move and no error. It returns an error for an unknown [Position].Model and a
// Principal that is too long, ctx's cause if ctx ends, and errors of [Options].Decided.
func (c *Chooser) Choose(ctx context.Context, position Position) (bargain.Action, error) {
	action, _, err := c.Decide(ctx, position)
	return action, err
}

// Decide is Choose with the record of the decision, which is empty after an error.
func (c *Chooser) Decide(ctx context.Context, position Position) (bargain.Action, Record, error) {
	if c.callersOf(position.Model) == nil {
		return bargain.Action{}, Record{}, fmt.Errorf("llm: model %.80q is not one of the chooser", position.Model)
	}
	if err := checkPrincipal(position.Principal); err != nil {
		return bargain.Action{}, Record{}, err
	}
	record := draft{begun: time.Now()}
	t := c.newTurn(&position)
	record.Record = Record{
		Negotiation: position.Negotiation, Question: "turn", Role: position.Role, Strategy: c.options.Name,
		Round: t.assessment.Round, Rounds: t.assessment.Rounds,
		StrategyMove: new(t.move(t.assessment.Move)), Answers: []Answer{},
	}
	chosen := verdict{action: t.assessment.Move}
	if record.Fallback = t.alone(); record.Fallback == "" {
		var err error
		if chosen, err = c.consult(ctx, t, &record); err != nil {
			return bargain.Action{}, Record{}, err
		}
	} else if t.banded {
		if err := record.setFacts(t.facts()); err != nil {
			return bargain.Action{}, Record{}, err
		}
	}
	record.Move, record.Correction = t.move(chosen.action), chosen.correction
	if err := c.finish(&record); err != nil {
		return bargain.Action{}, Record{}, err
	}
	return chosen.action, record.Record, nil
}

// consult asks the models, and completes the record except for the move.
func (c *Chooser) consult(ctx context.Context, t *turn, record *draft) (verdict, error) {
	facts := t.facts()
	if err := record.setFacts(facts); err != nil {
		return verdict{}, err
	}
	// The remaining time does not change the position.
	timeless := *facts
	timeless.TimeLeftPercent = 0
	results, err := c.ask(ctx, question{
		negotiation: t.Negotiation, model: t.Model, principal: t.Principal, temperature: t.Temperature,
		facts: record.Facts, key: timeless, quotes: t.Quotes, deadline: t.Deadline, rules: rules, schemaName: moveSchema,
		schema: schemaOf(facts.Moves, t.assessment.Preferences.Domain(), t.scale.priceOnly),
	}, record)
	if err != nil {
		return verdict{}, err
	}
	var verdicts []verdict
	for i := range results {
		if v, usable := t.evaluate(&results[i], &record.Answers[i]); usable {
			verdicts = append(verdicts, v)
		}
	}
	chosen, decided := t.vote(verdicts)
	if !decided {
		record.Fallback = aloneNoUsage
		return verdict{action: t.assessment.Move}, nil
	}
	record.Fallback = chosen.override
	c.keep(record, results)
	return chosen, nil
}

// evaluate records a model's answer and returns its verdict, or false for unusable answers.
func (t *turn) evaluate(result *called, answer *Answer) (verdict, bool) {
	if result.failure != "" {
		return verdict{}, false
	}
	var w written
	err := read(result.json, &w)
	var v verdict
	if err == nil {
		v, err = t.judge(w)
	}
	if err != nil {
		answer.Failure = FailureInvalid
		return verdict{}, false
	}
	answer.Move, answer.Reason = w.Move, printable(w.Reason)
	answer.Correction, answer.Override = v.correction, v.override
	if w.Move == moveOffer {
		answer.Candidate = w.Candidate
		if w.Candidate == 0 {
			answer.Price, answer.Terms = printable(w.Price), w.Terms
		}
	}
	return v, true
}

const overrideTie = "the models disagree"

// vote returns the majority's acceptance or end, or else the offer of median utility; between two medians,
// the better offer. It returns false without verdicts.
func (t *turn) vote(verdicts []verdict) (verdict, bool) {
	if len(verdicts) == 0 {
		return verdict{}, false
	}
	var offers []verdict
	count := [3]int{}
	for _, v := range verdicts {
		count[v.action.Move]++
		if majority := 2*count[v.action.Move] > len(verdicts); majority && v.action.Move != bargain.MoveOffer {
			return v, true
		}
		if v.action.Move == bargain.MoveOffer {
			offers = append(offers, v)
		}
	}
	if len(offers) == 0 {
		return verdict{action: t.assessment.Move, override: overrideTie}, true
	}
	utility := func(v verdict) fixed.Number { return t.assessment.Preferences.Of(v.action.Outcome) }
	slices.SortStableFunc(offers, func(a, b verdict) int { return cmp.Compare(utility(a), utility(b)) })
	return offers[len(offers)/2], true
}

// move converts an action for records.
func (t *turn) move(action bargain.Action) Move {
	move := Move{Move: action.Move.String(), Reason: action.Reason}
	switch {
	case t.assessment.Preferences == nil:
	case action.Move == bargain.MoveOffer:
		move.Offer = new(t.scale.offer(action.Outcome))
	case action.Move == bargain.MoveAccept && t.standing != nil:
		move.Offer = new(t.scale.offer(*t.standing))
	}
	return move
}
