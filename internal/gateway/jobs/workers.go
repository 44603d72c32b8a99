package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

type sweepArgs struct{}

// Kind implements [river.JobArgs].
func (sweepArgs) Kind() string { return "haggle_gateway_sweep" }

type sweepWorker struct {
	river.WorkerDefaults[sweepArgs]
	config Config
}

// Work ends all negotiations and approvals that have passed their deadline, gives overdue answers, and deletes expired
// nonces.
func (w *sweepWorker) Work(ctx context.Context, _ *river.Job[sweepArgs]) error {
	return errors.Join(w.end(ctx), w.answer(ctx), deleteAll(func() (int64, error) {
		return w.config.Store.DeleteNonces(ctx, deleteSize)
	}))
}

// end ends the negotiations.
func (w *sweepWorker) end(ctx context.Context) error {
	total := 0
	defer func() {
		if total > 0 {
			w.config.Logger.Info("negotiations timed out", "count", total)
		}
	}()
	for {
		ended, err := w.config.Store.Sweep(ctx, store.MaxSweep)
		if errors.Is(err, store.ErrInProgress) {
			return nil // another transaction holds the lock: a later sweep ends it
		}
		if err != nil {
			return err
		}
		total += ended
		if ended < store.MaxSweep {
			return nil
		}
	}
}

// answer gives the answers that have been pending for too long.
func (w *sweepWorker) answer(ctx context.Context) error {
	if w.config.AnswerOverdue == nil {
		return nil
	}
	answered, err := w.config.AnswerOverdue(ctx)
	if answered > 0 {
		w.config.Logger.Warn("overdue answers: recorded the rules' counter offers", "count", answered)
	}
	return err
}

type forgetArgs struct{}

// Kind implements [river.JobArgs].
func (forgetArgs) Kind() string { return "haggle_gateway_forget_idempotency_keys" }

type forgetWorker struct {
	river.WorkerDefaults[forgetArgs]
	config Config
}

// Work deletes the idempotency keys older than KeyLifetime.
func (w *forgetWorker) Work(ctx context.Context, _ *river.Job[forgetArgs]) error {
	before := time.Now().Add(-w.config.KeyLifetime)
	return deleteAll(func() (int64, error) { return w.config.Store.DeleteKeys(ctx, before, deleteSize) })
}

// deleteSize is the number of rows deleted per transaction.
const deleteSize = 1000

// deleteAll calls remove, which deletes at most deleteSize rows, until none is left.
func deleteAll(remove func() (int64, error)) error {
	for {
		deleted, err := remove()
		if errors.Is(err, store.ErrInProgress) {
			return nil // the following job deletes the rest
		}
		if err != nil || deleted < deleteSize {
			return err
		}
	}
}
