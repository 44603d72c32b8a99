package party

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

// Only unprocessed messages interrupt a slow decision.
func TestOnlyNewsInterruptsADecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := seekerOf(t)
		release, asked := make(chan struct{}), 0
		r.decide = func(ctx context.Context, _ Turn) (Move, error) {
			asked++
			select {
			case <-release:
				return Accept{}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		tracked := &tracked{runtime: r, changed: make(chan struct{}, 1)}
		type result struct {
			move    Move
			changed bool
		}
		done := make(chan result, 1)
		call := func() {
			move, _, changed := tracked.call(t.Context(), Turn{})
			done <- result{move, changed}
		}
		go call()
		synctest.Wait()
		// This signal is old: the message was processed before the decision began.
		tracked.wake()
		synctest.Wait()
		close(release)
		require.Equal(t, result{Accept{}, false}, <-done)
		require.Equal(t, 1, asked)

		release = make(chan struct{})
		go call()
		synctest.Wait()
		tracked.push(&hire.Message{})
		require.Equal(t, result{nil, true}, <-done)
	})
}
