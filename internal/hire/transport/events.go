package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/haggle-protocol/haggle/internal/hire/service"
)

// events sends an agent's events as Server-Sent Events until the reader disconnects or the home stops.
func (h *handler) events(w http.ResponseWriter, r request) {
	after, err := lastEvent(r)
	if err != nil {
		h.fail(w, r.Request, err)
		return
	}
	stream, err := h.Service.Events(r.agent, after)
	if err != nil {
		h.fail(w, r.Request, err)
		return
	}
	defer stream.Close()
	out := timed(w, eventTimeout)
	if err := out.control.SetReadDeadline(time.Time{}); err != nil {
		h.fail(w, r.Request, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	// The error is never nil: a stream ends when the reader leaves, the home stops or a problem occurs.
	if err := h.copyEvents(r.Context(), out, stream); r.Context().Err() == nil &&
		!errors.Is(err, service.ErrEnded) && !errors.Is(err, errSlow) {
		h.Log.ErrorContext(r.Context(), "event stream failed", "error", err)
	}
}

// lastEvent returns the number of the reader's last event. Reconnecting readers repeat the query, so the
// header takes precedence.
func lastEvent(r request) (after int64, err error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.query["after"]
	}
	if text == "" {
		return 0, nil
	}
	if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
		return 0, malformed("Last-Event-ID, after: not the number of an event")
	}
	return after, nil
}

func (h *handler) copyEvents(ctx context.Context, out *timedWriter, stream *service.Stream) error {
	if err := writeEvent(out, ": stream\n\n"); err != nil {
		return err
	}
	for {
		wait, cancel := context.WithTimeout(ctx, h.Heartbeat)
		events, err := stream.Next(wait)
		cancel()
		switch {
		case err == nil:
			for _, event := range events {
				// Canonical JSON contains no line breaks.
				if err := writeEvent(out, "id: %d\nevent: message\ndata: %s\n\n", event.Number, event.Message); err != nil {
					return err
				}
			}
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			if err := writeEvent(out, ": heartbeat\n\n"); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// errSlow: a slow or disconnected reader.
var errSlow = errors.New("slow reader")

// writeEvent writes and flushes an event.
func writeEvent(out *timedWriter, format string, values ...any) error {
	_, err := fmt.Fprintf(out, format, values...)
	if err == nil {
		err = out.control.Flush()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errSlow, err)
	}
	return nil
}
