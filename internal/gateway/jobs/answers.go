package jobs

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// answerQueue holds a job for each pending answer. A job waits for a language model for most of its time, so more
// of them run at once than other jobs.
const answerQueue = "answers"

const (
	// answerWorkers is the number of concurrent answer jobs: the default number of simultaneous questions to a model.
	answerWorkers = 32
	// answerAttempts limits the attempts at a pending answer. A sweep records the answer before they are used up.
	answerAttempts = 25
	// longestPause is the longest pause between two attempts.
	longestPause = 30 * time.Second
)

type answerArgs struct {
	Negotiation string `json:"negotiation_id"`
}

// Kind implements [river.JobArgs].
func (answerArgs) Kind() string { return "haggle_gateway_answer" }

type answerWorker struct {
	river.WorkerDefaults[answerArgs]
	config Config
	// stopping ends when [Jobs.Stop] is called. Other processes, or this one after a restart, continue.
	stopping context.Context
}

// Work gives a negotiation's pending answer.
func (w *answerWorker) Work(ctx context.Context, job *river.Job[answerArgs]) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.stopping, cancel)()
	err := w.config.Answer(ctx, job.Args.Negotiation)
	if err != nil && ctx.Err() == nil {
		w.config.Logger.Warn("pending answer not given", "negotiation", job.Args.Negotiation, "attempt", job.Attempt,
			"error", err)
	}
	return err
}

// Timeout implements [river.Worker]. After the end of its process, a job begins again only when the timeout has passed.
func (w *answerWorker) Timeout(*river.Job[answerArgs]) time.Duration { return w.config.AnswerTimeout }

// NextRetry implements [river.Worker].
func (*answerWorker) NextRetry(job *river.Job[answerArgs]) time.Time {
	return time.Now().Add(min(time.Second<<min(job.Attempt, 10), longestPause))
}

// EnqueueAnswers adds a job for each negotiation's pending answer, in a transaction of the store: the jobs exist if it
// is committed.
func (j *Jobs) EnqueueAnswers(ctx context.Context, tx store.Tx, negotiations []string) (err error) {
	var jobs []river.InsertManyParams
	for _, id := range negotiations {
		jobs = append(jobs, river.InsertManyParams{
			Args: answerArgs{id}, InsertOpts: &river.InsertOpts{Queue: answerQueue, MaxAttempts: answerAttempts},
		})
	}
	switch client := j.client.(type) {
	case *river.Client[pgx.Tx]:
		_, err = client.InsertManyTx(ctx, tx.Postgres, jobs)
	case *river.Client[*sql.Tx]:
		_, err = client.InsertManyTx(ctx, tx.SQLite, jobs)
	}
	if err != nil {
		return fmt.Errorf("enqueue answer jobs: %w", err)
	}
	return nil
}
