package rpcpool

import (
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Between the check for an available endpoint and the request, another request may receive a Retry-After from
// the last available endpoint. Then the request waits; a failed request always reports a reason.
func TestConcurrentRequestsWaitForRetryAfter(t *testing.T) {
	limited := func(_ string, call int) error {
		if call%2 == 0 {
			return &transaction.NodeError{Code: http.StatusTooManyRequests, Message: "Too many requests", RetryAfter: 200 * time.Microsecond}
		}
		return nil
	}
	pool := newFakePool(t, func(o *Options) { o.HedgeAfter = -1 }, &fakeNode{slot: 7, fail: limited}, &fakeNode{slot: 7, fail: limited})
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
