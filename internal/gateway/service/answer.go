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

// Answer records a negotiation's pending answer. It asks the strategy's language model without holding a lock, and
// records the answer if it is still pending: only one of concurrent or repeated calls does. It returns nil if no
// answer is pending. ctx must have a deadline. If the model has not answered [recordingTime] before the end of ctx or
// of the negotiation, Answer records the rules' counter offer. It fails if this process does not have the model,
// because another process can have it. After an error the answer is still pending: see [Service.AnswerOverdue].
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
	question.Deadline = now.Add(min(end.Sub(now), waiting.OverdueAt(overdueTime).Sub(waiting.Now)) - recordingTime)
	return s.answer(ctx, waiting, question)
}

// overdueTime is how long an answer can be pending before the rules answer. It leaves time for a second process to ask
// the model after the first process was killed.
const overdueTime = 5 * time.Minute

// maxOverdue limits the answers of one call of AnswerOverdue.
const maxOverdue = 200

// AnswerOverdue gives the answers that have been pending for too long: see [store.Unanswered.OverdueAt]. The rules'
// counter offer is the answer. It returns the number of answers, and the errors of the others.
func (s *Service) AnswerOverdue(ctx context.Context) (answered int, err error) {
	ids, err := s.store.Overdue(ctx, overdueTime, maxOverdue)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		waiting, question, failed := s.unanswered(ctx, id)
		if failed == nil && waiting != nil {
			question.Overdue = true
			if failed = s.answer(ctx, waiting, question); failed == nil {
				answered++
			}
		}
		err = errors.Join(err, failed) // one negotiation must not keep the others waiting
		if ctx.Err() != nil {
			break
		}
	}
	return answered, err
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
		// The bundle's decision contained a counter offer for this part. If the publisher has lowered the floor since,
		// the rules could accept now: an agreement without the bundle's other parts.
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

// record records the answer to a proposal unless the negotiation is over or the answer is no longer pending. It fails
// if the publisher's floor has changed since, because the answer follows from the old floor.
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

// ChargeModels counts the usage of the day's recorded answers against the models' daily budget. A process calls it
// once, before it answers. Later usage counts in the process that causes it.
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
