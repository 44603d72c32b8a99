package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/jobs"
	"github.com/haggle-protocol/haggle/internal/gateway/model"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

// hangs is a child's model that never responds. Otherwise [child.Answers] is a price.
const hangs = "hangs"

// scripted is a model that responds with a function.
type scripted func(context.Context) (string, error)

func (scripted) Name() string { return "openai:gpt-4" }

func (s scripted) Respond(ctx context.Context, _ llm.Request) (*llm.Response, error) {
	price, err := s(ctx)
	return &llm.Response{
		JSON:  fmt.Appendf(nil, `{"reason":"r","move":"offer","candidate":0,"price":%q}`, price),
		Usage: llm.Usage{InputTokens: 200, OutputTokens: 45, Known: true},
	}, err
}

func withModel(
	respond scripted, s *store.Store, enqueue func(context.Context, store.Tx, []string) error,
) (*service.Service, error) {
	models, err := model.New(model.Config{
		Models: []llm.Model{respond}, Budget: llm.Budget{Tokens: 1_000_000}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	return service.New(service.Config{Store: s, Models: models, Enqueue: enqueue})
}

// answer returns the child's Answer. The child prints "asked" when its model is asked.
func (c child) answer(s *store.Store) (func(context.Context, string) error, error) {
	cases, err := withModel(func(ctx context.Context) (string, error) {
		fmt.Println("asked")
		if c.Answers == hangs {
			<-ctx.Done()
		}
		return c.Answers, ctx.Err()
	}, s, func(context.Context, store.Tx, []string) error { return errors.New("the child opens no negotiations") })
	return cases.Answer, err
}

const document = `{"min_price_per_fetch_micro": 1000, "preferred_price_per_fetch_micro": 2000,
	"max_price_per_fetch_micro": 5000, "llm_provider": "openai", "llm_model": "gpt-4"}`

// buyer proposes to a publisher whose strategy names a model, with jobs that do not give the answers.
type buyer struct {
	*service.Service
	identity.Caller
}

func (f *fixture) buyer(t *testing.T, running *jobs.Jobs) *buyer {
	t.Helper()
	cases, err := withModel(nil, f.Store, func(ctx context.Context, tx store.Tx, ids []string) error {
		return running.EnqueueAnswers(ctx, tx, slices.Concat(ids, ids)) // two jobs, for two processes
	})
	require.NoError(t, err)
	publisher := identity.Caller{Kind: identity.Publisher, ID: f.publisher, Scopes: identity.ScopesOf(identity.Publisher)}
	_, err = cases.CreateStrategy(t.Context(), publisher, []byte(document), "")
	require.NoError(t, err)
	return &buyer{cases, identity.Caller{
		Kind: identity.Client, ID: f.client, Name: "Acme", Scopes: identity.ScopesOf(identity.Client),
	}}
}

// run runs jobs until the end of the test.
func (f *fixture) run(t *testing.T, config jobs.Config) *jobs.Jobs {
	t.Helper()
	config.Store = f.Store
	running, err := jobs.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, running.Stop(context.WithoutCancel(t.Context()))) })
	return running
}

// propose opens a negotiation whose answer is pending.
func (b *buyer) propose(t *testing.T) string {
	t.Helper()
	for { // another writer to the SQLite file delays it
		proposed, err := b.Propose(t.Context(), b.Caller, service.ProposeRequest{Proposals: []service.Proposal{{
			Publisher: "site-a.local", Terms: terms.Terms{
				Price: 1500, TTLSeconds: 600, BurstRPS: 10, Purposes: []terms.Purpose{terms.Inference},
			},
		}}})
		if failure := new(service.Error); errors.As(err, &failure) && failure.Code == service.CodeInProgress {
			continue
		}
		require.NoError(t, err)
		require.Equal(t, engine.Pending, proposed.Action)
		return proposed.Answers[0].Negotiation.ID
	}
}

// requireAnswered requires one answer with a price in each negotiation.
func (f *fixture) requireAnswered(t *testing.T, b *buyer, price uint64, ids ...string) {
	t.Helper()
	f.await(t, func() bool {
		return f.count(t, `SELECT COUNT(*) FROM negotiations
			WHERE current_offer_by = 'client' AND status <> 'awaiting_approval'`) == 0
	})
	for _, id := range ids {
		read, err := b.Status(t.Context(), b.Caller, id)
		require.NoError(t, err)
		require.Equal(t, engine.Negotiating, read.Status)
		require.Len(t, read.Rounds, 2)
		require.Equal(t, price, read.CurrentTerms.Price)
		require.Equal(t, 1, read.Round)
	}
	require.Equal(t, f.count(t, `SELECT COUNT(*) FROM audit_entries`),
		f.count(t, `SELECT SUM(audit_length) FROM negotiations`))
}

// A process is killed while its model is asked. Another one gives the answer.
func TestPendingAnswerSurvivesAKill(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		buyer := f.buyer(t, f.run(t, jobs.Config{}))
		f.Answers = hangs
		process, printed := f.startReading(t)
		id := buyer.propose(t)
		line, err := printed.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "asked\n", line)
		require.NoError(t, process.Process.Kill())
		require.Error(t, process.Wait())
		waiting, err := buyer.Status(t.Context(), buyer.Caller, id)
		require.NoError(t, err)
		require.True(t, waiting.AnswerPending)
		// River repeats the job of a killed process after some minutes.
		f.await(t, func() bool {
			_, err := f.db.ExecContext(t.Context(), `UPDATE `+f.schema+`river_job SET attempted_at = '2026-01-01 00:00:00'
				WHERE kind = 'haggle_gateway_answer'`)
			return err == nil
		})
		f.Answers = "0.0019"
		f.start(t)
		f.requireAnswered(t, buyer, 1900, id)
	})
}

// Two processes give many pending answers, each once, although each answer has two jobs.
func TestTwoProcessesAnswerOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		buyer := f.buyer(t, f.run(t, jobs.Config{}))
		f.Answers = "0.0019"
		f.start(t)
		f.start(t)
		var ids []string
		for range 20 {
			ids = append(ids, buyer.propose(t))
		}
		f.requireAnswered(t, buyer, 1900, ids...)
		require.EqualValues(t, len(ids), f.count(t, `SELECT COUNT(*) FROM negotiation_rounds WHERE actor = 'publisher'`))
	})
}

// An answer that fails is tried again, and overdue ones are given with a sweep.
func TestFailedAnswerIsTriedAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		var calls, sweeps atomic.Int64
		running := f.run(t, jobs.Config{
			SweepEvery:    time.Second,
			AnswerOverdue: func(context.Context) (int, error) { sweeps.Add(1); return 0, nil },
			Answer: func(ctx context.Context, _ string) error {
				if _, limited := ctx.Deadline(); calls.Add(1) <= 2 || !limited {
					return errors.New("no answer")
				}
				return nil
			},
		})
		f.buyer(t, running).propose(t)
		f.await(t, func() bool {
			return f.count(t, `SELECT COUNT(*) FROM `+f.schema+`river_job
				WHERE kind = 'haggle_gateway_answer' AND state = 'completed'`) == 2 && sweeps.Load() > 1
		})
		require.EqualValues(t, 4, calls.Load())
	})
}

// A process that stops ends its attempts at once, writes its checkpoint, and leaves the answers to others.
func TestStopEndsAnAnswer(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		f.negotiate(t, engine.AwaitingApproval, time.Hour) // for the first checkpoint
		config, err := f.config(f.Store)
		require.NoError(t, err)
		asked, ended := make(chan struct{}, 2), make(chan struct{}, 2)
		config.CheckpointEvery = time.Hour
		config.AnswerTimeout = time.Hour
		config.Answer = func(ctx context.Context, _ string) error {
			asked <- struct{}{}
			<-ctx.Done()
			ended <- struct{}{}
			return ctx.Err()
		}
		running, err := jobs.Start(t.Context(), config)
		require.NoError(t, err)
		f.await(t, func() bool { return f.verify(t).Checkpoints == 1 })
		buyer := f.buyer(t, running)
		id := buyer.propose(t)
		<-asked
		<-asked
		grace, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, running.Stop(grace))
		require.Len(t, ended, 2)
		require.EqualValues(t, 2, f.verify(t).Checkpoints)
		require.Zero(t, f.verify(t).Uncovered)
		require.EqualValues(t, 2, f.count(t, `SELECT COUNT(*) FROM `+f.schema+`river_job
			WHERE kind = 'haggle_gateway_answer' AND state IN ('retryable', 'available', 'scheduled')`))
		f.Answers = "0.0019"
		f.start(t)
		f.requireAnswered(t, buyer, 1900, id)
	})
}
