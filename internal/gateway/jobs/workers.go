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

// Work ends all negotiations and approvals that have passed their deadline.
func (w *sweepWorker) Work(ctx context.Context, _ *river.Job[sweepArgs]) error {
	total := 0
	defer func() {
		if total > 0 {
			w.config.Logger.Info("negotiations timed out", "count", total)
		}
	}()
	for {
		ended, err := w.config.Store.Sweep(ctx, store.MaxSweep)
		if errors.Is(err, store.ErrInProgress) {
			return nil // the next sweep ends what another transaction has locked
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

type forgetArgs struct{}

// Kind implements [river.JobArgs].
func (forgetArgs) Kind() string { return "haggle_gateway_forget_idempotency_keys" }

type forgetWorker struct {
	river.WorkerDefaults[forgetArgs]
	config Config
}

// forgetSize is the number of idempotency keys that one transaction deletes.
const forgetSize = 1000

// Work deletes the idempotency keys that are older than KeyLifetime.
func (w *forgetWorker) Work(ctx context.Context, _ *river.Job[forgetArgs]) error {
	before := time.Now().Add(-w.config.KeyLifetime)
	for {
		deleted, err := w.config.Store.DeleteKeys(ctx, before, forgetSize)
		if errors.Is(err, store.ErrInProgress) {
			return nil
		}
		if err != nil || deleted < forgetSize {
			return err
		}
	}
}
