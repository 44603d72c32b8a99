// Package queue plays a tournament as jobs of River in a PostgreSQL database, by any number of processes.
//
// A job is a scenario with all blocks. The result is stored in the transaction that completes the job, and so
// exactly once. If a process is killed, another process plays the job again. Every process reads the results
// in plan order, so each process obtains the same result as a tournament on a single machine.
package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

// Config is a tournament in a database.
type Config struct {
	Pool *pgxpool.Pool
	// ID identifies the plan in the database: up to 40 letters and digits. Processes with the same ID must
	// use the same plan.
	ID string
	// Workers is the number of jobs that this process plays at the same time. If zero, one per processor is
	// used.
	Workers int
	// RescueAfter is the time before another process plays an unfinished job again. If zero, 5 min is used. A
	// longer job is played twice, with the same result.
	RescueAfter time.Duration
	// Logger gets River's messages. If nil, they are discarded.
	Logger *slog.Logger
	// Progress is called now and then with the number of sessions finished by all processes, and the total
	// number. If nil, it is not called.
	Progress func(sessions, of int)
}

const (
	defaultRescueAfter = 5 * time.Minute
	// pollInterval is the time between reads of the results.
	pollInterval = 100 * time.Millisecond
	fetchPause   = 10 * time.Millisecond
	// progressInterval is the time between counts of the finished jobs.
	progressInterval = time.Second
	// stopLimit is how long a process waits for unfinished jobs when stopping.
	stopLimit = 10 * time.Second
	// insertSize is the number of jobs per statement.
	insertSize = 10_000
	// lockNumber is the advisory lock for changes of the schema.
	lockNumber = 0x6861_6767_6c65_7472
)

// scenarioArgs contains a job's arguments.
type scenarioArgs struct {
	Tournament string `json:"tournament"`
	Scenario   int    `json:"scenario"`
}

// Kind implements [river.JobArgs].
func (scenarioArgs) Kind() string { return "haggle_tournament_scenario" }

// Play plays the plan together with other processes, and calls each with all blocks starting at number from,
// in order. It returns the first error from a session, each, the database or ctx.
func (c Config) Play(
	ctx context.Context, plan *tournament.Plan, from int, each func(*tournament.Block) error,
) (err error) {
	if err := plan.Check(); err != nil {
		return err
	}
	if err := c.migrate(ctx); err != nil {
		return err
	}
	client, err := c.client(plan)
	if err != nil {
		return err
	}
	if err := c.submit(ctx, client, plan.Scenarios.Len()); err != nil {
		return err
	}
	// A stop waits for the jobs that are being played, instead of canceling them.
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		err = errors.Join(err, client.Stop(stop))
	}()
	return c.collect(ctx, client, plan, from, each)
}

// queue is the name of the tournament's queue.
func (c Config) queue() string { return "tournament_" + c.ID }

func (c Config) client(plan *tournament.Plan) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &worker{pool: c.Pool, plan: plan}); err != nil {
		return nil, err
	}
	config := &river.Config{
		Workers: workers, Logger: cmp.Or(c.Logger, slog.New(slog.DiscardHandler)), JobTimeout: -1,
		RescueStuckJobsAfter: cmp.Or(c.RescueAfter, defaultRescueAfter),
		FetchCooldown:        fetchPause, FetchPollInterval: pollInterval,
		Queues: map[string]river.QueueConfig{c.queue(): {MaxWorkers: c.Workers}},
	}
	if c.Workers <= 0 {
		config.Queues[c.queue()] = river.QueueConfig{MaxWorkers: runtime.GOMAXPROCS(0)}
	}
	return river.NewClient(riverpgxv5.New(c.Pool), config)
}

const tables = `
CREATE TABLE IF NOT EXISTS haggle_tournaments (
	id text PRIMARY KEY, submitted_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS haggle_tournament_results (
	tournament text NOT NULL REFERENCES haggle_tournaments, scenario bigint NOT NULL, blocks bytea NOT NULL,
	PRIMARY KEY (tournament, scenario)
)`

// migrate creates River's tables and the tournament tables. Only one process at a time does it.
func (c Config) migrate(ctx context.Context) error {
	connection, err := c.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer connection.Release()
	if _, err := connection.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(lockNumber)); err != nil {
		return err
	}
	defer func() {
		// If a connection cannot unlock, it is broken, and closing it frees the lock.
		_, _ = connection.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", int64(lockNumber))
	}()
	migrator, err := rivermigrate.New(riverpgxv5.New(c.Pool),
		&rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	_, err = connection.Exec(ctx, tables)
	return err
}

// submit inserts the jobs, unless another process already did.
func (c Config) submit(ctx context.Context, client *river.Client[pgx.Tx], scenarios int) error {
	return pgx.BeginFunc(ctx, c.Pool, func(tx pgx.Tx) error {
		inserted, err := tx.Exec(ctx,
			"INSERT INTO haggle_tournaments (id) VALUES ($1) ON CONFLICT DO NOTHING", c.ID)
		if err != nil || inserted.RowsAffected() == 0 {
			return err
		}
		for first := 0; first < scenarios; first += insertSize {
			var jobs []river.InsertManyParams
			for scenario := first; scenario < min(first+insertSize, scenarios); scenario++ {
				jobs = append(jobs, river.InsertManyParams{
					Args: scenarioArgs{c.ID, scenario}, InsertOpts: &river.InsertOpts{Queue: c.queue()},
				})
			}
			if _, err := client.InsertManyFastTx(ctx, tx, jobs); err != nil {
				return err
			}
		}
		return nil
	})
}

// collect reads the results in order until all are there.
func (c Config) collect(
	ctx context.Context, client *river.Client[pgx.Tx], plan *tournament.Plan, from int,
	each func(*tournament.Block) error,
) error {
	entrants := len(plan.Entrants)
	var counted time.Time
	for scenario := from / entrants; scenario < plan.Scenarios.Len(); {
		if c.Progress != nil && time.Since(counted) >= progressInterval {
			if err := c.report(ctx, plan); err != nil {
				return err
			}
			counted = time.Now()
		}
		var content []byte
		err := c.Pool.QueryRow(ctx,
			"SELECT blocks FROM haggle_tournament_results WHERE tournament = $1 AND scenario = $2",
			c.ID, scenario).Scan(&content)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			if err := c.wait(ctx, client); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		var blocks []*tournament.Block
		if err := json.Unmarshal(content, &blocks); err != nil {
			return err
		}
		if len(blocks) != entrants {
			return fmt.Errorf("queue: scenario %d has %d blocks instead of %d", scenario, len(blocks), entrants)
		}
		for _, block := range blocks {
			if block.Number < from {
				continue
			}
			if err := each(block); err != nil {
				return err
			}
		}
		scenario++
	}
	return nil
}

// report counts all processes' finished jobs. Unlike collect, it does not wait for the first missing result.
func (c Config) report(ctx context.Context, plan *tournament.Plan) error {
	scenarios := 0
	err := c.Pool.QueryRow(ctx,
		"SELECT count(*) FROM haggle_tournament_results WHERE tournament = $1", c.ID).Scan(&scenarios)
	if err == nil {
		c.Progress(scenarios*len(plan.Entrants)*plan.BlockSessions(), plan.Sessions())
	}
	return err
}

// wait waits for the next read. It returns the error of a job that River does not retry.
func (c Config) wait(ctx context.Context, client *river.Client[pgx.Tx]) error {
	failed, err := client.JobList(ctx, river.NewJobListParams().Queues(c.queue()).First(1).
		States(rivertype.JobStateCancelled, rivertype.JobStateDiscarded))
	if err != nil {
		return err
	}
	if len(failed.Jobs) > 0 {
		job := failed.Jobs[0]
		if last := len(job.Errors) - 1; last >= 0 {
			return fmt.Errorf("queue: job %d failed: %s", job.ID, job.Errors[last].Error)
		}
		return fmt.Errorf("queue: job %d was cancelled", job.ID)
	}
	select {
	case <-time.After(pollInterval):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// worker plays jobs.
type worker struct {
	river.WorkerDefaults[scenarioArgs]
	pool *pgxpool.Pool
	plan *tournament.Plan
}

// Work plays a scenario. A session's error is final, because it follows from the plan.
func (w *worker) Work(ctx context.Context, job *river.Job[scenarioArgs]) error {
	entrants := len(w.plan.Entrants)
	blocks := make([]*tournament.Block, entrants)
	for first := range blocks {
		block, err := w.plan.Play(job.Args.Scenario*entrants + first)
		if err != nil {
			return river.JobCancel(err)
		}
		blocks[first] = block
	}
	content, err := json.Marshal(blocks)
	if err != nil {
		return river.JobCancel(err)
	}
	return pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO haggle_tournament_results (tournament, scenario, blocks)
			VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, job.Args.Tournament, job.Args.Scenario, content)
		if err != nil {
			return err
		}
		_, err = river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
}
