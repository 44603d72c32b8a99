// Package wait waits for a time, or for the end of a context.
package wait

import (
	"context"
	"time"
)

// For waits, unless the context ends first: then it answers with the context's cause. No time to wait is none.
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
