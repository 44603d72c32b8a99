package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/model"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

// gpt is a language model that responds with a price, after calling asked.
type gpt struct {
	asked func()
	price string
	calls atomic.Int64
}

func (g *gpt) Name() string { return "openai:gpt-4" }

func (g *gpt) Respond(context.Context, llm.Request) (*llm.Response, error) {
	g.calls.Add(1)
	if g.asked != nil {
		g.asked()
	}
	return &llm.Response{
		JSON:  fmt.Appendf(nil, `{"reason":"Our minimum is 0.001.","move":"offer","candidate":0,"price":%q}`, g.price),
		Usage: llm.Usage{InputTokens: 200, OutputTokens: 45, Known: true},
	}, nil
}

// withModel is a fixture whose publisher site-a.local has a strategy with a language model. The jobs are collected, not
// executed.
type withModel struct {
	*fixture
	model   *gpt
	lock    sync.Mutex
	jobs    []string
	refused error
}

func onBothWithModel(t *testing.T, test func(t *testing.T, f *withModel)) {
	t.Helper()
	onBoth(t, func(t *testing.T, base *fixture) { test(t, newWithModel(t, base)) })
}

func newWithModel(t *testing.T, base *fixture) *withModel {
	t.Helper()
	f := &withModel{fixture: base, model: &gpt{price: "0.0019"}}
	models, err := model.New(model.Config{
		Models: []llm.Model{f.model}, Budget: llm.Budget{Tokens: 1_000_000},
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	require.NoError(t, err)
	_, err = service.New(service.Config{Store: f.store, Models: models})
	require.ErrorContains(t, err, "Enqueue")
	f.Service, err = service.New(service.Config{
		Store: f.store, Models: models, Enqueue: func(_ context.Context, tx store.Tx, negotiations []string) error {
			if (tx.Postgres == nil) == (tx.SQLite == nil) {
				return errors.New("no transaction")
			}
			f.lock.Lock()
			defer f.lock.Unlock()
			f.jobs = append(f.jobs, negotiations...)
			return f.refused
		},
	})
	require.NoError(t, err)
	_, err = f.CreateStrategy(t.Context(), f.siteA, []byte(`{"min_price_per_fetch_micro": 1000,
			"preferred_price_per_fetch_micro": 2000, "max_price_per_fetch_micro": 5000, "published_floor_micro": 500,
			"llm_provider": "openai", "llm_model": "gpt-4", "system_prompt": "Be fair."}`), "")
	require.NoError(t, err)
	return f
}

// answer gives a pending answer as a job does.
func (f *withModel) answer(t *testing.T, id string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return f.Answer(ctx, id)
}

func (f *withModel) read(t *testing.T, id string) service.Details {
	t.Helper()
	d, err := f.Status(t.Context(), f.siteA, id)
	require.NoError(t, err)
	return d
}

// The proposal of 1,500 is answered later, with 1,900. The proposal of 1,800 is accepted at once.
func TestPendingAnswerIsRecordedLater(t *testing.T) {
	onBothWithModel(t, func(t *testing.T, f *withModel) {
		proposed := f.propose(t, f.openAI, at(1500), "site-a.local")
		require.Equal(t, engine.Pending, proposed.Action)
		given := proposed.Answers[0]
		require.Equal(t, engine.Answer{
			Action: engine.Pending, Reason: engine.ReasonPending, Codes: []engine.ReasonCode{engine.CodePending},
		}, given.Answer)
		id := given.Negotiation.ID
		require.True(t, given.Negotiation.AnswerPending)
		require.Equal(t, engine.Initiated, given.Negotiation.Status)
		require.Equal(t, []string{id}, f.jobs)
		require.Zero(t, f.model.calls.Load(), "no model is asked in the request")
		before := f.read(t, id)
		require.Len(t, before.Rounds, 1)
		require.Equal(t, given.Negotiation.DeadlineAt, before.DeadlineAt)
		require.Equal(t, time.Hour, before.DeadlineAt.Sub(before.InitiatedAt), "the strategy's timeout")
		_, err := f.Counter(t.Context(), f.openAI, service.CounterRequest{Negotiation: id, Terms: at(1600)})
		fails(t, err, service.Conflict, service.CodePending)

		require.ErrorContains(t, f.Answer(context.WithoutCancel(t.Context()), id), "deadline")
		require.NoError(t, f.answer(t, id))
		require.NoError(t, f.answer(t, id), "a repetition changes nothing")
		read := f.read(t, id)
		require.False(t, read.AnswerPending)
		require.Equal(t, engine.Negotiating, read.Status)
		require.Equal(t, at(1900), *read.CurrentTerms)
		require.Len(t, read.Rounds, 2)
		require.Equal(t, "openai:gpt-4", read.Rounds[1].Analysis.Model.Model)
		require.Equal(t, 1, read.Rounds[1].Number)
		require.EqualValues(t, 1, f.model.calls.Load())
		entries, err := f.AuditLog(t.Context(), f.siteA, id, 0, 200)
		require.NoError(t, err)
		require.Contains(t, asJSON(t, entries), "Our minimum")
		own, err := f.Status(t.Context(), f.openAI, id)
		require.NoError(t, err)
		require.NotContains(t, asJSON(t, own), "minimum")

		accepted, err := f.Counter(t.Context(), f.openAI, service.CounterRequest{Negotiation: id, Terms: at(1800)})
		require.NoError(t, err)
		require.Equal(t, engine.Accept, accepted.Action)
		require.Len(t, f.jobs, 1)
	})
}

// In a further round the model's earlier offer is the highest price.
func TestPendingAnswerIsNotAboveTheStandingOffer(t *testing.T) {
	onBothWithModel(t, func(t *testing.T, f *withModel) {
		id := f.propose(t, f.openAI, at(1200), "site-a.local").Answers[0].Negotiation.ID
		require.NoError(t, f.answer(t, id))
		f.model.price = "0.0049"
		given, err := f.Counter(t.Context(), f.openAI, service.CounterRequest{Negotiation: id, Terms: at(1300)})
		require.NoError(t, err)
		require.Equal(t, engine.Pending, given.Action)
		require.NoError(t, f.answer(t, id))
		read := f.read(t, id)
		require.EqualValues(t, 1900, read.CurrentTerms.Price)
		require.EqualValues(t, 1900, read.Rounds[3].Analysis.Model.HighestMicro)
		require.Equal(t, 2, read.Round)
	})
}

// Of concurrent answers one is recorded.
func TestConcurrentAnswersAreRecordedOnce(t *testing.T) {
	onBothWithModel(t, func(t *testing.T, f *withModel) {
		id := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
		const concurrent = 8
		var all sync.WaitGroup
		all.Add(concurrent)
		f.model.asked = func() { all.Done(); all.Wait() }
		// A cache of responses would ask once for all, so each call has a service of its own.
		var services []*service.Service
		for range concurrent {
			services = append(services, f.another(t, 1_000_000))
		}
		ctx := deadline(t)
		var calls sync.WaitGroup
		for at := range concurrent {
			calls.Go(func() {
				assert.NoError(t, services[at].Answer(ctx, id))
			})
		}
		calls.Wait()
		require.Len(t, f.read(t, id).Rounds, 2)
		require.EqualValues(t, concurrent, f.model.calls.Load())
	})
}

// another returns a service of another process with the same model, and a daily budget in tokens.
func (f *withModel) another(t *testing.T, budget int64) *service.Service {
	t.Helper()
	models, err := model.New(model.Config{
		Models: []llm.Model{f.model}, Budget: llm.Budget{Tokens: budget}, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	other, err := service.New(service.Config{
		Store: f.store, Models: models, Enqueue: func(context.Context, store.Tx, []string) error { return nil },
	})
	require.NoError(t, err)
	return other
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// A negotiation that ends while its answer is pending, or while the model is asked, stays as it ended.
func TestPendingAnswerOfAnEndedNegotiation(t *testing.T) {
	onBothWithModel(t, func(t *testing.T, f *withModel) {
		leave := func(id string) {
			_, err := f.Leave(t.Context(), f.openAI, service.LeaveRequest{Negotiation: id, Reason: engine.LeavePrice})
			require.NoError(t, err)
		}
		left := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
		leave(left)
		require.NoError(t, f.answer(t, left))
		require.Zero(t, f.model.calls.Load())

		leaving := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
		f.model.asked = func() { leave(leaving) }
		require.NoError(t, f.answer(t, leaving))

		late := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
		f.model.asked = func() { f.offset.Add(int64(2 * time.Hour)) }
		require.NoError(t, f.answer(t, late))
		require.EqualValues(t, 2, f.model.calls.Load())
		for id, want := range map[string]engine.Status{
			left: engine.Rejected, leaving: engine.Rejected, late: engine.TimedOut,
		} {
			read := f.read(t, id)
			require.Equal(t, want, read.Status)
			require.False(t, read.AnswerPending)
			publisher := func(r service.Round) bool { return r.Actor == engine.PartyPublisher }
			require.False(t, slices.ContainsFunc(read.Rounds, publisher))
		}
	})
}

// A pending part of a bundle makes the bundle pending. It never becomes an agreement without the others, also if the
// publisher lowers the floor meanwhile.
func TestPendingPartOfABundleIsNoAgreement(t *testing.T) {
	onBothWithModel(t, func(t *testing.T, f *withModel) {
		floor := func(micro int64) {
			_, err := f.UpdatePublisher(t.Context(), f.administrator, f.siteA.ID, service.PublisherChange{FloorMicro: &micro})
			require.NoError(t, err)
		}
		floor(1800)
		proposed := f.propose(t, f.openAI, at(1900), "site-a.local", "site-b.local")
		require.Equal(t, engine.Pending, proposed.Action)
		require.Equal(t, engine.Pending, proposed.Answers[0].Action)
		require.Equal(t, engine.Counter, proposed.Answers[1].Action, "held at its price")
		floor(500)
		id := proposed.Answers[0].Negotiation.ID
		require.Equal(t, []string{id}, f.jobs)
		require.NoError(t, f.answer(t, id))
		read := f.read(t, id)
		require.Equal(t, engine.Negotiating, read.Status)
		require.Equal(t, engine.PartyPublisher, read.OfferBy)
	})
}

// A floor raised while the model is asked makes the answer fail. The next attempt answers with it.
func TestPendingAnswerKeepsANewFloor(t *testing.T) {
	onBothWithModel(t, func(t *testing.T, f *withModel) {
		id := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
		f.model.asked = func() {
			f.model.asked = nil
			_, err := f.UpdatePublisher(t.Context(), f.administrator, f.siteA.ID,
				service.PublisherChange{FloorMicro: new(int64(1950))})
			require.NoError(t, err)
		}
		require.ErrorContains(t, f.answer(t, id), "floor has changed")
		require.True(t, f.read(t, id).AnswerPending)
		require.NoError(t, f.answer(t, id))
		read := f.read(t, id)
		require.False(t, read.AnswerPending)
		require.Equal(t, engine.Rejected, read.Status, "1,500 is below the published floor now")
	})
}

// A proposal whose job cannot be added is not recorded.
func TestProposalWithoutAJobIsNotRecorded(t *testing.T) {
	onBothWithModel(t, func(t *testing.T, f *withModel) {
		f.refused = errors.New("no job")
		_, err := f.Propose(t.Context(), f.openAI, service.ProposeRequest{
			Proposals: []service.Proposal{{Publisher: "site-a.local", Terms: at(1500)}},
		})
		require.ErrorIs(t, err, f.refused)
		list, err := f.Negotiations(t.Context(), f.administrator, store.Filter{}, store.Page{})
		require.NoError(t, err)
		require.Empty(t, list.Items)
	})
}

// A gateway that does not have the model leaves the answer to others. After five minutes each gateway answers with the
// rules' counter offer, and the record contains the reason.
func TestOverdueAnswerIsTheRulesCounterOffer(t *testing.T) {
	onBothWithModel(t, func(t *testing.T, f *withModel) {
		ctx := deadline(t)
		id := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
		without, err := service.New(service.Config{Store: f.store})
		require.NoError(t, err)
		require.ErrorContains(t, without.Answer(ctx, id), "another gateway can have it")
		f.offset.Add(int64(5*time.Minute - time.Second))
		answered, err := without.AnswerOverdue(ctx)
		require.NoError(t, err)
		require.Zero(t, answered)
		require.True(t, f.read(t, id).AnswerPending)
		f.offset.Add(int64(time.Second))
		for _, want := range []int{1, 0} {
			answered, err = without.AnswerOverdue(ctx)
			require.NoError(t, err)
			require.Equal(t, want, answered)
		}
		read := f.read(t, id)
		require.Equal(t, model.FallbackOverdue, read.Rounds[1].Analysis.Model.Fallback)
		require.Equal(t, read.Rounds[1].Analysis.Model.HighestMicro, read.CurrentTerms.Price)
		require.NoError(t, f.Answer(ctx, id), "the job comes too late")
		require.Len(t, f.read(t, id).Rounds, 2)

		// Near the end of a negotiation there is less time: 3 hours after its start it ends.
		f.offset.Add(int64(54 * time.Minute))
		for range 2 {
			_, err = f.Counter(ctx, f.openAI, service.CounterRequest{Negotiation: id, Terms: at(1510)})
			require.NoError(t, err)
			require.NoError(t, f.Answer(ctx, id))
			f.offset.Add(int64(59 * time.Minute))
		}
		_, err = f.Counter(ctx, f.openAI, service.CounterRequest{Negotiation: id, Terms: at(1520)})
		require.NoError(t, err)
		require.Equal(t, 3*time.Hour, f.read(t, id).DeadlineAt.Sub(f.read(t, id).InitiatedAt))
		waiting, err := f.store.Unanswered(ctx, id, store.Recall{})
		require.NoError(t, err)
		require.Equal(t, 90*time.Second, waiting.OverdueAt(5*time.Minute).Sub(waiting.LastActivityAt))
		for want, further := range []time.Duration{89 * time.Second, time.Second} {
			f.offset.Add(int64(further))
			answered, err = without.AnswerOverdue(ctx)
			require.NoError(t, err)
			require.Equal(t, want, answered, "half of three minutes")
		}
	})
}

// Unanswered returns the client's earlier proposals without the pending proposal.
func TestRecallExcludesThePendingProposal(t *testing.T) {
	onBothWithModel(t, func(t *testing.T, f *withModel) {
		recall := store.Recall{Period: engine.Memory, Limit: 2}
		id := f.propose(t, f.openAI, at(1100), "site-a.local").Answers[0].Negotiation.ID
		for at1, price := range []uint64{1200, 1300} {
			require.NoError(t, f.answer(t, id))
			_, err := f.Counter(t.Context(), f.openAI, service.CounterRequest{Negotiation: id, Terms: at(price)})
			require.NoError(t, err)
			waiting, err := f.store.Unanswered(t.Context(), id, recall)
			require.NoError(t, err)
			require.Len(t, waiting.Proposals, at1+1)
			require.JSONEq(t, string(at(1100).Canonical()), string(waiting.Proposals[0]))
			require.JSONEq(t, string(at(price).Canonical()), string(waiting.CurrentTerms))
			var standing terms.Terms
			require.NoError(t, json.Unmarshal(waiting.Standing, &standing))
			require.EqualValues(t, 1900, standing.Price)
		}
		require.NoError(t, f.answer(t, id))
		waiting, err := f.store.Unanswered(t.Context(), id, recall)
		require.NoError(t, err)
		require.Nil(t, waiting)
		_, err = f.store.Unanswered(t.Context(), "0198c0de-0000-7000-8000-000000000000", recall)
		require.ErrorIs(t, err, store.ErrNotFound)
	})
}

// A negotiation that cannot be answered now does not keep the others waiting. Only PostgreSQL locks single negotiations.
func TestOverdueAnswersDoNotWaitForOneAnother(t *testing.T) {
	f := newWithModel(t, newFixture(t, server.Create(t)))
	ctx := deadline(t)
	locked := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
	free := f.propose(t, f.claude, at(1500), "site-a.local").Answers[0].Negotiation.ID
	f.offset.Add(int64(5 * time.Minute))
	unit, err := f.store.BeginRound(ctx, store.RoundRequest{Negotiations: []string{locked}})
	require.NoError(t, err)
	defer unit.End(ctx)
	answered, err := f.AnswerOverdue(ctx)
	require.ErrorIs(t, err, store.ErrInProgress)
	require.Equal(t, 1, answered)
	require.True(t, f.read(t, locked).AnswerPending)
	require.False(t, f.read(t, free).AnswerPending)
}

// A restarted process counts what the day's recorded answers have used.
func TestRestartCountsTheDaysAnswers(t *testing.T) {
	onBothWithModel(t, func(t *testing.T, f *withModel) {
		ctx := deadline(t)
		first := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
		require.NoError(t, f.answer(t, first))
		const used = 245
		require.EqualValues(t, used, f.read(t, first).Rounds[1].Analysis.Model.Tokens)
		second := f.propose(t, f.claude, at(1500), "site-a.local").Answers[0].Negotiation.ID

		// least is the least budget, in steps smaller than used, with which a process asks the model.
		const step = used / 2
		least := int64(4_000)
		waiting, err := f.store.Unanswered(ctx, second, store.Recall{})
		require.NoError(t, err)
		asks := func(budget int64) bool {
			models, err := model.New(model.Config{
				Models: []llm.Model{f.model}, Budget: llm.Budget{Tokens: budget}, Logger: slog.New(slog.DiscardHandler),
			})
			require.NoError(t, err)
			rules, err := engine.ParseStrategy(waiting.Definition)
			require.NoError(t, err)
			answer, err := models.Answer(ctx, model.Question{
				Negotiation: second, Strategy: &rules, Proposal: at(1500), ClientName: waiting.ClientName,
				Deadline: time.Now().Add(time.Minute),
			})
			require.NoError(t, err)
			return answer.Report.Failure == ""
		}
		for !asks(least) {
			least += step
		}
		restarted := f.another(t, least+step)
		require.NoError(t, restarted.ChargeModels(ctx))
		require.NoError(t, restarted.Answer(ctx, second))
		require.Equal(t, llm.FailureBudget, f.read(t, second).Rounds[1].Analysis.Model.Failure)
	})
}
