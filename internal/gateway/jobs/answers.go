package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// answerQueue holds a job for each pending answer. A job waits for a language model for most of its time, so more
// of them run at once than other jobs.
const answerQueue = "answers"

const (
	answerWorkers = 64
	// answerAttempts is the number of attempts at a pending answer. They extend over about four hours, so that a
	// database that fails does not leave a proposal without answer; until then a negotiation usually times out.
	answerAttempts = 500
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
}

// Work gives a negotiation's pending answer.
func (w *answerWorker) Work(ctx context.Context, job *river.Job[answerArgs]) error {
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
func (j *Jobs) EnqueueAnswers(ctx context.Context, tx store.Tx, negotiations []string) error {
	for _, id := range negotiations {
		err := j.insert(ctx, tx, answerArgs{id}, &river.InsertOpts{Queue: answerQueue, MaxAttempts: answerAttempts})
		if err != nil {
			return err
		}
	}
	return nil
}
