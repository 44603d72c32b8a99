package rpcpool

import (
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Between finding out that there is somebody to be asked and asking, another request can be told to leave everyone alone for a while.
// Then one waits; there is always a reason if a request fails.
func TestEveryoneIsLeftAloneForAWhileByAllRequestsAtOnce(t *testing.T) {
	limited := func(_ string, call int) error {
		if call%2 == 0 {
			return &Refusal{Code: http.StatusTooManyRequests, Message: "Too many requests", RetryAfter: 200 * time.Microsecond}
		}
		return nil
	}
	pool := newPlayed(t, func(o *Options) { o.HedgeAfter = -1 }, &player{slot: 7, fail: limited}, &player{slot: 7, fail: limited})
	var asking sync.WaitGroup
	for range 32 {
		asking.Go(func() {
			for range 20 {
				for _, err := range []error{send(t.Context(), pool), func() error { _, err := balance(t.Context(), pool); return err }()} {
					var failures Failures
					if !errors.As(err, &failures) {
						continue
					}
					for _, failure := range failures {
						assert.Error(t, failure.Err)
					}
				}
			}
		})
	}
	asking.Wait()
}
