package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/model"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// recordingTime is the part of a job's time that is kept for recording the answer.
const recordingTime = 5 * time.Second

// Answer gives a negotiation's pending answer. It asks the strategy's language model while nothing is locked, and
// records the answer if the negotiation still waits for it: of concurrent or repeated calls, one does. It returns
// nil if there is nothing to answer. ctx needs a deadline: if the model has not answered [recordingTime] before,
// the rules' counter offer is the answer. If this process lacks the model, Answer fails, because another one can have
// it. After any error the answer is still pending: see [Service.AnswerOverdue].
func (s *Service) Answer(ctx context.Context, negotiation string) error {
	end, limited := ctx.Deadline()
	if !limited {
		return errors.New("answer: no deadline")
	}
	waiting, question, err := s.unanswered(ctx, negotiation)
	if err != nil || waiting == nil {
		return err
	}
	if !s.models.Has(question.Strategy) {
		return fmt.Errorf("negotiation %s: %s; another gateway can have it", negotiation, model.FallbackMissing)
	}
	now := time.Now()
	question.Deadline = now.Add(min(end.Sub(now), waiting.Deadline.Sub(waiting.Now)) - recordingTime)
	return s.answer(ctx, waiting, question)
}

// overdueTime is the longest time for which an answer waits for a model. It is longer than a model takes after the end
// of a first process.
const overdueTime = 5 * time.Minute

// maxOverdue limits the answers of one call of AnswerOverdue.
const maxOverdue = 200

// AnswerOverdue gives the answers that have been pending for too long: for [overdueTime], or for half of the time until
// the deadline. The rules' counter offer is the answer. It returns the number of answers.
func (s *Service) AnswerOverdue(ctx context.Context) (answered int, err error) {
	ids, err := s.store.Overdue(ctx, overdueTime, maxOverdue)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		waiting, question, err := s.unanswered(ctx, id)
		if err == nil && waiting != nil {
			question.Overdue = true
			err = s.answer(ctx, waiting, question)
			answered++
		}
		if err != nil {
			return answered, err
		}
	}
	return answered, nil
}

// unanswered reads a negotiation and the question about its proposal; nil if it waits for no answer.
func (s *Service) unanswered(
	ctx context.Context, id string,
) (waiting *store.Unanswered, q model.Question, err error) {
	if waiting, err = s.store.Unanswered(ctx, id, recall); err == nil && waiting != nil {
		q, err = questionOf(waiting)
	}
	return waiting, q, err
}

func (s *Service) answer(ctx context.Context, waiting *store.Unanswered, question model.Question) error {
	answer, err := s.models.Answer(ctx, question)
	if err != nil {
		return fmt.Errorf("negotiation %s: %w", waiting.ID, err)
	}
	if waiting.Bundle != "" && waiting.CurrentRound == 1 {
		// The bundle was decided with a counter offer here. An agreement now, because the publisher has lowered the floor
		// meanwhile, would be one without the other parts.
		answer.Decision = answer.Decision.Held()
	}
	// Another transaction can hold the lock for a moment. The model is not asked again for that.
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		err := s.record(ctx, waiting, question.Strategy, answer)
		if err != nil && !errors.Is(err, store.ErrInProgress) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 20 * time.Millisecond, MaxInterval: time.Second, Multiplier: 2, RandomizationFactor: 0.5,
	}), backoff.WithMaxElapsedTime(recordingTime))
	return err
}

// questionOf returns the question about an unanswered proposal, without the deadline.
func questionOf(waiting *store.Unanswered) (q model.Question, err error) {
	rules, err := rulesOf(waiting.Definition)
	if err != nil {
		return q, err
	}
	q = model.Question{
		Negotiation: waiting.ID, Strategy: raised(rules, waiting.Floor), ClientName: waiting.ClientName,
		State: engine.State{Status: waiting.Status, Round: uint32(waiting.CurrentRound) - 1},
	}
	if err := json.Unmarshal(waiting.CurrentTerms, &q.Proposal); err != nil {
		return q, fmt.Errorf("negotiation %s: proposal: %w", waiting.ID, err)
	}
	if q.State.Counter, err = storedTerms(waiting.Standing); err != nil {
		return q, fmt.Errorf("negotiation %s: counter offer: %w", waiting.ID, err)
	}
	q.State.Proposals, err = proposalsOf(waiting.State)
	return q, err
}

// record records the answer to a proposal unless the negotiation is over, or no longer waits for it. A floor that
// the publisher raised meanwhile makes it fail, because the answer was given with the old one.
func (s *Service) record(
	ctx context.Context, waiting *store.Unanswered, rules *engine.Strategy, given model.Answer,
) error {
	unit, err := s.store.BeginRound(ctx, store.RoundRequest{Negotiations: []string{waiting.ID}})
	if over := new(store.StatusError); errors.As(err, &over) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unit.End(ctx)
	state := unit.States[0]
	if !state.AnswerPending() || state.CurrentRound != waiting.CurrentRound {
		return nil
	}
	if state.Floor != waiting.Floor {
		return fmt.Errorf("negotiation %s: the publisher's floor has changed", state.ID)
	}
	part := answered{state: state, rules: rules, decision: given.Decision}
	update, err := part.answer(given.Report)
	if err != nil {
		return err
	}
	_, err = unit.Finish(ctx, store.Outcome{Updates: []store.Update{update}}, nil)
	return err
}

// ChargeModels counts what the day's recorded answers have used against the models' daily budget. A process calls it
// once, before it answers: what other processes use later, they count themselves.
func (s *Service) ChargeModels(ctx context.Context) error {
	if s.models == nil {
		return nil
	}
	day := s.store.Now().Truncate(24 * time.Hour)
	return s.store.ModelRounds(ctx, day, func(r store.Round) error {
		var recorded RecordedAnalysis
		if err := json.Unmarshal(r.Analysis, &recorded); err != nil {
			return fmt.Errorf("round %s: analysis: %w", r.ID, err)
		}
		if recorded.Model != nil {
			s.models.Charge(recorded.Model.Tokens, recorded.Model.Cost)
		}
		return nil
	})
}
