// Package wait waits for a duration or for the end of a context.
package wait

import (
	"context"
	"time"
)

// For waits for a duration. If the context ends first, it returns the context's cause. It does not wait if
// length is zero or negative.
func For(ctx context.Context, length time.Duration) error {
	if length <= 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
