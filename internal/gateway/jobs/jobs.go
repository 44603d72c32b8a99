package jobs

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// Config describes the jobs to run. Zero values select the defaults. All processes sharing a database must
// use identical intervals. An interval is at least 1 s and a whole number of seconds.
type Config struct {
	Store *store.Store
	// SweepEvery is how often overdue negotiations are ended and expired nonces are deleted. The default is
	// 10 s.
	SweepEvery time.Duration
	// CheckpointEvery is the checkpoint interval. The default is 1 min.
	CheckpointEvery time.Duration
	// CheckpointPath is the checkpoint file. If empty, no checkpoints are written.
	CheckpointPath string
	// CheckpointKey signs the checkpoints.
	CheckpointKey ed25519.PrivateKey
	// ForgetEvery is how often idempotency keys older than KeyLifetime are deleted. The defaults are 1 h and
	// 90 days.
	ForgetEvery, KeyLifetime time.Duration
	// Answer records a negotiation's pending answer. Calls can be concurrent, and are repeated after an error or the
	// end of a process. If nil, this process leaves pending answers to others.
	Answer func(ctx context.Context, negotiation string) error
	// AnswerOverdue records the answers that have been pending for too long, and returns their number. Each sweep
	// calls it, unless it is nil.
	AnswerOverdue func(context.Context) (int, error)
	// AnswerTimeout limits a call of Answer. The default is 1 min.
	AnswerTimeout time.Duration
	// Logger gets the results of jobs and River's messages. If nil, they are discarded.
	Logger *slog.Logger
	// TracerProvider receives a span for every job. If nil, no spans are sent.
	TracerProvider trace.TracerProvider
}

const (
	// workers is the number of concurrent jobs in the queue of sweeps and deletions.
	workers = 2
	// connections limits the connections to PostgreSQL: one listens, the others execute River's statements.
	connections = 4
	// fetchEvery is how often SQLite is polled for jobs. PostgreSQL notifies.
	fetchEvery = time.Second
	// jobTimeout ends a job. The following period continues the work.
	jobTimeout = time.Minute
	// rescueAfter is how long River waits before it retries a killed process's job, or discards it after the
	// last attempt.
	rescueAfter = 2 * time.Minute
	// cancelLimit is how long canceled jobs may take to end.
	cancelLimit = 5 * time.Second
	// retention is how long River keeps finished jobs.
	retention = time.Hour
)

func (c Config) withDefaults() (Config, error) {
	c.SweepEvery = cmp.Or(c.SweepEvery, 10*time.Second)
	c.CheckpointEvery = cmp.Or(c.CheckpointEvery, time.Minute)
	c.ForgetEvery = cmp.Or(c.ForgetEvery, time.Hour)
	// A repeated purchase must find the first answer even if inactivity and approval both lasted the maximum
	// of 30 days.
	c.KeyLifetime = cmp.Or(c.KeyLifetime, 90*24*time.Hour)
	c.AnswerTimeout = cmp.Or(c.AnswerTimeout, jobTimeout)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.TracerProvider == nil {
		c.TracerProvider = noop.NewTracerProvider()
	}
	for _, interval := range []time.Duration{c.SweepEvery, c.CheckpointEvery, c.ForgetEvery} {
		if interval < time.Second || interval%time.Second != 0 {
			return c, fmt.Errorf("jobs: interval %s must be a whole number of seconds, at least 1 s", interval)
		}
	}
	switch {
	case c.Store == nil:
		return c, errors.New("jobs: store not set")
	case c.KeyLifetime < 0 || c.AnswerTimeout < 0:
		return c, errors.New("jobs: KeyLifetime and AnswerTimeout must not be negative")
	case c.CheckpointPath != "" && len(c.CheckpointKey) != ed25519.PrivateKeySize:
		return c, errors.New("jobs: checkpoint key not set")
	}
	return c, nil
}

// Jobs runs the jobs.
type Jobs struct {
	client      client
	checkpoints *checkpoints
	cancel      context.CancelFunc
	// stopAnswers ends the pending answers' contexts.
	stopAnswers context.CancelFunc
	waiting     sync.WaitGroup
	release     func()
}

// client contains the [river.Client] methods common to both transaction types.
type client interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	Stopped() <-chan struct{}
	Queues() *river.QueueBundle
}

// Start creates River's tables if they are missing, and runs the jobs until Stop is called. The end of ctx
// does not stop them. The caller keeps the store open until then.
func Start(ctx context.Context, config Config) (*Jobs, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	j := &Jobs{release: func() {}, checkpoints: &checkpoints{config: config}}
	if err := j.connect(ctx, config); err != nil {
		j.release()
		return nil, fmt.Errorf("jobs: %w", err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	j.cancel = cancel
	if err := j.client.Start(running); err != nil {
		cancel()
		j.release()
		return nil, fmt.Errorf("jobs: %w", err)
	}
	if config.CheckpointPath != "" {
		j.waiting.Go(func() { j.checkpoints.acquire(running, j.client) })
	}
	return j, nil
}

// Stop ends attempts at pending answers, waits for other running jobs, writes a last checkpoint if it holds the
// checkpoint file, and lets another process take over at once. When ctx ends it cancels the jobs.
func (j *Jobs) Stop(ctx context.Context) error {
	j.stopAnswers()
	err := j.client.Stop(ctx)
	j.cancel()
	select {
	case <-j.client.Stopped():
	case <-time.After(cancelLimit):
	}
	j.waiting.Wait()
	err = errors.Join(err, j.checkpoints.close(ctx))
	j.release()
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	return nil
}

// connect makes the client of the store's database.
func (j *Jobs) connect(ctx context.Context, config Config) error {
	if config.Store.Dialect == store.Postgres {
		pool, err := config.Store.NewPool(ctx, connections)
		if err != nil {
			return err
		}
		j.release = pool.Close
		if err := migratePostgres(ctx, pool); err != nil {
			return err
		}
		settings, err := j.settings(config)
		if err != nil {
			return err
		}
		settings.Schema = schema
		j.client, err = river.NewClient(riverpgxv5.New(pool), settings)
		return err
	}
	db, err := config.Store.Writer()
	if err != nil {
		return err
	}
	driver := riversqlite.New(db)
	if err := migrateSQLite(ctx, driver); err != nil {
		return err
	}
	settings, err := j.settings(config)
	if err != nil {
		return err
	}
	j.client, err = river.NewClient(driver, settings)
	return err
}

func (j *Jobs) settings(config Config) (*river.Config, error) {
	known := river.NewWorkers()
	stopping, stopAnswers := context.WithCancel(context.Background())
	j.stopAnswers = stopAnswers
	if err := errors.Join(
		river.AddWorkerSafely(known, &sweepWorker{config: config}),
		river.AddWorkerSafely(known, &checkpointWorker{checkpoints: j.checkpoints}),
		river.AddWorkerSafely(known, &forgetWorker{config: config}),
		river.AddWorkerSafely(known, &answerWorker{config: config, stopping: stopping}),
	); err != nil {
		return nil, err
	}
	queues := map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}}
	if config.Answer != nil {
		queues[answerQueue] = river.QueueConfig{MaxWorkers: answerWorkers}
	}
	return &river.Config{
		Workers: known, Logger: quiet(config.Logger),
		JobTimeout: jobTimeout, RescueStuckJobsAfter: rescueAfter,
		CompletedJobRetentionPeriod: retention, DiscardedJobRetentionPeriod: 24 * retention,
		FetchPollInterval: fetchEvery,
		MaxAttempts:       1, // the insertion of a job that may be repeated says how often
		Middleware:        []rivertype.Middleware{&tracing{tracer: config.TracerProvider.Tracer(scope)}},
		Queues:            queues,
		PeriodicJobs: []*river.PeriodicJob{
			periodic(config.SweepEvery, sweepArgs{}, river.QueueDefault),
			periodic(config.CheckpointEvery, checkpointArgs{}, checkpointQueue),
			periodic(config.ForgetEvery, forgetArgs{}, river.QueueDefault),
		},
	}, nil
}

// periodic returns a job that is inserted once per interval, even by several leaders in turn: River skips a
// job if the period already contains a job of this kind.
func periodic(every time.Duration, args river.JobArgs, queue string) *river.PeriodicJob {
	return river.NewPeriodicJob(middle(every), func() (river.JobArgs, *river.InsertOpts) {
		return args, &river.InsertOpts{
			Queue: queue, MaxAttempts: attempts(every), UniqueOpts: river.UniqueOpts{ByPeriod: every},
		}
	}, &river.PeriodicJobOpts{RunOnStart: true})
}

// attempts returns how often a periodic job is tried: all retries begin before the following period, which
// repeats the work. River waits for n⁴ seconds after attempt n.
func attempts(every time.Duration) int {
	last := 1
	for wait := time.Second; wait < every; last++ {
		next := time.Duration(last + 1)
		wait += next * next * next * next * time.Second
	}
	return last
}

// scope is the spans' instrumentation scope.
const scope = "github.com/haggle-protocol/haggle/internal/gateway/jobs"

// tracing begins a span for every job, named for the job kind.
type tracing struct {
	river.MiddlewareDefaults
	tracer trace.Tracer
}

// Work implements [rivertype.WorkerMiddleware].
func (t *tracing) Work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	ctx, span := t.tracer.Start(ctx, job.Kind, trace.WithSpanKind(trace.SpanKindConsumer))
	defer span.End()
	err := work(ctx)
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	return err
}

// middle schedules jobs in the middle of periods, so that a late or early timer stays in the period.
type middle time.Duration

// Next returns the first middle after a time.
func (m middle) Next(now time.Time) time.Time {
	every := time.Duration(m)
	next := now.Truncate(every).Add(every / 2)
	if !next.After(now) {
		next = next.Add(every)
	}
	return next
}
