package store

import (
	"context"
	"time"

	"github.com/haggle-protocol/haggle/internal/hire/store/queries"
)

// Push is an agent's push position.
type Push struct {
	Agent string
	// Pushed is the number of the last event accepted, refused or abandoned.
	Pushed int64
	// Failures counts the attempts since the last success.
	Failures int64
}

// DuePushes lists up to limit agents with unpushed events, the longest waiting first.
func (s *Store) DuePushes(ctx context.Context, now time.Time, limit int) ([]Push, error) {
	rows, err := s.read.DuePushes(ctx, micros(now), int32(limit))
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	due := make([]Push, len(rows))
	for i, row := range rows {
		due[i] = Push{Agent: row.Agent, Pushed: row.Pushed, Failures: row.Failures}
	}
	return due, nil
}

// ClaimPush leases an agent's inbox until a time. found is false if no event is due, or if another process
// holds the lease.
func (s *Store) ClaimPush(
	ctx context.Context, agent string, now, until time.Time,
) (claimed Push, found bool, err error) {
	tx, err := s.Begin(ctx)
	if err != nil {
		return Push{}, false, err
	}
	defer tx.Cancel()
	rows, err := tx.queries.ClaimPush(ctx, micros(until), agent, micros(now))
	if err != nil || len(rows) == 0 {
		return Push{}, false, s.failed(ctx, err)
	}
	return Push{Agent: agent, Pushed: rows[0].Pushed, Failures: rows[0].Failures}, true, tx.Commit()
}

// SavePush stores a position and when to try again; zero means now.
func (s *Store) SavePush(ctx context.Context, p Push, next time.Time) error {
	tx, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Cancel()
	if err := tx.queries.SavePush(ctx, queries.SavePushParams{
		Agent: p.Agent, Pushed: p.Pushed, Failures: p.Failures, PushAt: micros(next),
	}); err != nil {
		return s.failed(ctx, err)
	}
	return tx.Commit()
}
