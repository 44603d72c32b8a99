package mcp

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/shutdown"
)

// maxWait is the largest wait_seconds. Some clients give up after a minute.
const maxWait = 30

// waitSeconds is how long a call waits for a pending answer, in seconds.
type waitSeconds int

const waitHelp = "time to wait for a pending answer: the call returns as soon as answer_pending is missing; default 0"

// responseTime limits writing a response after a wait.
const responseTime = 30 * time.Second

type controlKey struct{}

// withControl passes the connection's control to the tools. See extend.
func withControl(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := context.WithValue(r.Context(), controlKey{}, http.NewResponseController(w))
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// extend sets the connection's write deadline to responseTime after the wait, because the server's write timeout
// includes the wait.
func extend(ctx context.Context, wait time.Duration) {
	if control, overHTTP := ctx.Value(controlKey{}).(*http.ResponseController); overHTTP {
		// If this fails, the server's limit remains.
		_ = control.SetWriteDeadline(time.Now().Add(wait + responseTime))
	}
}

// await returns a negotiation as soon as no answer is pending, at the latest after wait or when the server shuts
// down. If the caller or the process has too many watches, it does not wait.
func (s *server) await(
	ctx context.Context, caller identity.Caller, id string, wait time.Duration,
) (found service.Details, err error) {
	if wait == 0 {
		return s.Service.Status(ctx, caller, id)
	}
	watch, err := s.Service.Watch(caller, id)
	var known *service.Error
	if errors.As(err, &known) && known.Kind == service.Limit {
		return s.Service.Status(ctx, caller, id)
	}
	if err != nil {
		return found, err
	}
	defer watch.Close()
	if found, _, err = watch.Next(ctx, 0); err != nil || !found.AnswerPending {
		return found, err
	}
	extend(ctx, wait)
	waiting, cancel := shutdown.Context(ctx)
	defer cancel()
	for end := time.Now().Add(wait); found.AnswerPending; {
		next, changed, err := watch.Next(waiting, time.Until(end))
		switch {
		case ctx.Err() != nil:
			return found, ctx.Err()
		case waiting.Err() != nil:
			return found, nil
		case err != nil:
			return found, err
		case !changed:
			return found, nil
		}
		found = next
	}
	return found, nil
}
