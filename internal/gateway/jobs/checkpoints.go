package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"github.com/haggle-protocol/haggle/internal/audit"
)

// checkpointQueue holds the checkpoint jobs. Only processes holding a checkpoint file lock execute them.
const checkpointQueue = "checkpoints"

// acquireEvery is how often a process tries to lock the checkpoint file.
const acquireEvery = time.Second

type checkpointArgs struct{}

// Kind implements [river.JobArgs].
func (checkpointArgs) Kind() string { return "haggle_gateway_checkpoint" }

type checkpointWorker struct {
	river.WorkerDefaults[checkpointArgs]
	checkpoints *checkpoints
}

// Work writes a checkpoint if a chain changed.
func (w *checkpointWorker) Work(ctx context.Context, _ *river.Job[checkpointArgs]) error {
	return w.checkpoints.write(ctx)
}

// checkpoints manages the process's checkpoint file.
type checkpoints struct {
	config Config

	lock sync.Mutex
	// file is nil while the file is not open.
	file *audit.Checkpointer
	// closed reports whether the file must not be opened again.
	closed bool
}

// acquire locks the checkpoint file as soon as it is free, and then works the queue of checkpoints.
func (c *checkpoints) acquire(ctx context.Context, client client) {
	reported := ""
	for ctx.Err() == nil {
		err := c.open()
		if err == nil {
			err = client.Queues().Add(checkpointQueue, river.QueueConfig{MaxWorkers: 1})
			if err == nil {
				return
			}
		}
		// A file locked by another process is not an error. Every other error is logged once.
		if !errors.Is(err, audit.ErrLocked) && err.Error() != reported {
			reported = err.Error()
			c.config.Logger.Error("checkpoints not possible", "error", err)
		}
		select {
		case <-time.After(acquireEvery):
		case <-ctx.Done():
		}
	}
}

var errClosed = errors.New("the process stops")

func (c *checkpoints) open() (err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closed {
		return errClosed
	}
	if c.file == nil {
		c.file, err = audit.OpenCheckpointer(c.config.CheckpointPath, c.config.CheckpointKey)
	}
	if err != nil {
		c.file = nil
		return err
	}
	return nil
}

func (c *checkpoints) write(ctx context.Context) error {
	if err := c.open(); err != nil {
		return err
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.file == nil {
		return errClosed
	}
	written, err := c.file.Write(ctx, c.config.Store, time.Now())
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			c.config.Logger.Error("checkpoint not written", "error", err)
		}
		// A write can leave a partial line. Reopening the file removes it.
		err = errors.Join(err, c.file.Close())
		c.file = nil
		return err
	}
	if written != nil {
		c.config.Logger.Debug("checkpoint written", "sequence", written.Sequence,
			"negotiations", len(written.Heads))
	}
	return nil
}

// close writes a last checkpoint and unlocks the file.
func (c *checkpoints) close(ctx context.Context) error {
	var err error
	if c.isOpen() {
		err = c.write(ctx)
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.closed = true
	if c.file != nil {
		err = errors.Join(err, c.file.Close())
		c.file = nil
	}
	return err
}

func (c *checkpoints) isOpen() bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.file != nil
}
