package gatewayload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// capture lets a gateway serve the sequence once and reads the statements from the server's log.
func (r *run) capture(ctx context.Context) (s *script, err error) {
	if err := r.server.Execute(ctx, "ALTER DATABASE "+captured+" SET log_statement = 'all'"); err != nil {
		return nil, err
	}
	g, err := startGateway(ctx, r.Program, r.server.Address(captured), r.folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.stop()) }()
	c := newSender([]*gateway{g}, r.seeds, 1)
	w := c.workers[0]
	steps := make([]capturedStep, len(sequence))
	for at := range sequence {
		steps[at].began = time.Now()
		if done, _, err := w.advance(ctx); err != nil {
			return nil, fmt.Errorf("step %d of the sequence: %w", at, err)
		} else if done == operations {
			return nil, fmt.Errorf("step %d of the sequence: refused by a limit", at)
		}
	}
	found, err := r.awaitStatements(ctx)
	if err != nil {
		return nil, err
	}
	for at := range steps {
		steps[at].transaction, steps[at].others = found[at].transaction, found[at].others
	}
	return newScript(steps, w.negotiations, r.seeds)
}

// awaitStatements reads the log until it contains all transactions of the sequence: the server writes it with
// a delay.
func (r *run) awaitStatements(ctx context.Context) ([]capturedStep, error) {
	for deadline := time.Now().Add(logLimit); ; {
		text, err := os.ReadFile(logFile(r.server.Folder))
		if err != nil {
			return nil, err
		}
		found, err := readLog(text)
		if err != nil || len(found) == len(sequence) {
			return found, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("log of PostgreSQL: %d transactions of rounds, want %d", len(found), len(sequence))
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

const logLimit = 30 * time.Second
