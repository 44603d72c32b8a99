package service

import (
	"context"
	"crypto/ed25519"
	"errors"
	"time"

	"github.com/haggle-protocol/haggle/internal/audit"
)

const (
	// checkpointEvery is the checkpoint interval.
	checkpointEvery = time.Minute
	// checkpointLimit bounds the last checkpoint when the process stops.
	checkpointLimit = 10 * time.Second
)

// Checkpoints configures signed checkpoints, which reveal later changes of the database: see package audit.
type Checkpoints struct {
	// Path is the checkpoint file. One process at a time writes it.
	Path string
	// Key signs the checkpoints.
	Key ed25519.PrivateKey
}

// writeCheckpoints writes checkpoints until ctx ends, then a final checkpoint.
func (s *Service) writeCheckpoints(ctx context.Context) {
	if s.config.Checkpoints == nil {
		return
	}
	var file *audit.Checkpointer
	defer func() {
		if file != nil {
			s.failed(ctx, "closing the checkpoint file", file.Close())
		}
	}()
	write := func(ctx context.Context) {
		if err := s.writeCheckpoint(ctx, &file); !errors.Is(err, audit.ErrLocked) {
			s.failed(ctx, "writing a checkpoint", err)
		}
	}
	every(ctx, checkpointEvery, func() { write(ctx) })
	final, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkpointLimit)
	defer cancel()
	write(final)
}

// writeCheckpoint opens the file if necessary, and writes a checkpoint. It returns [audit.ErrLocked] while
// another process writes the file.
func (s *Service) writeCheckpoint(ctx context.Context, file **audit.Checkpointer) (err error) {
	if *file == nil {
		if *file, err = audit.OpenCheckpointer(s.config.Checkpoints.Path, s.config.Checkpoints.Key); err != nil {
			*file = nil
			return err
		}
	}
	if _, err = (*file).Write(ctx, s.config.Store, s.now()); err != nil {
		// A failed write can leave an incomplete line. Opening the file again removes it.
		err = errors.Join(err, (*file).Close())
		*file = nil
	}
	return err
}
