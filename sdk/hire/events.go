package hire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

const (
	// maxEvent limits an event, in bytes: message, number and type.
	maxEvent = MaxSize + 1024
	// silenceLimit limits the wait for data. A home sends a comment every 15 seconds.
	silenceLimit = 45 * time.Second
)

var (
	errSilent = errors.New("no data in time")
	errEnded  = errors.New("stream ended")
)

// Event contains a message for the agent.
type Event struct {
	// Number counts the agent's events at the home, from 1 without gaps.
	Number  uint64
	Message *Message
}

// Events yields the agent's events following the given number, once each and in order, and waits for further
// events until the context ends. It connects again, with growing pauses, if the connection is lost or idle for
// 45 seconds, or if the stream contains a gap, a repeated event or anything else than messages to the agent.
// The last yield contains the final error: the context's, or the home's [*Refusal].
//
// To resume after crashing, process each open conversation's log and then the events after
// [ConversationPage].Latest.
func (h *Home) Events(ctx context.Context, after uint64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := h.check(); err != nil {
			yield(Event{}, err)
			return
		}
		pauses := pauses()
		for {
			stopped, before, began := false, after, time.Now()
			err := h.stream(ctx, after, func(event Event) bool {
				after = event.Number
				stopped = !yield(event, nil)
				return !stopped
			})
			if stopped {
				return
			}
			if after != before || time.Since(began) > silenceLimit {
				pauses.Reset()
			}
			if err = h.pause(ctx, pauses.NextBackOff(), err); err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

// pause waits before the next connection, or returns the error that ends the sequence.
func (h *Home) pause(ctx context.Context, pause time.Duration, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.As(err, new(*Refusal)) || errors.Is(err, errNotPublic) {
		return err
	}
	var again *transient
	if errors.As(err, &again) {
		pause = max(pause, again.after)
	}
	cmp.Or(h.Logger, slog.Default()).WarnContext(ctx, "hire: event stream lost", "home", h.Origin, "error", err, "pause", pause)
	return wait.For(ctx, pause)
}

// stream connects once. It passes the events to receive until that returns false.
func (h *Home) stream(ctx context.Context, after uint64, receive func(Event) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(requestLimit, func() { cancel(errSilent) })
	defer silence.Stop()
	r := h.request("events", http.MethodGet, EventsPath, nil)
	r.accept = "text/event-stream"
	if after > 0 {
		r.lastEvent = strconv.FormatUint(after, 10)
	}
	response, err := clientOr(h.Client).open(ctx, r)
	if err == nil {
		defer response.Body.Close()
		err = readEvents(&timedReader{response.Body, silence}, h.Agent, after, receive)
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return err
}

// timedReader ends a connection without data. Time between reads does not count.
type timedReader struct {
	io.Reader
	silence *time.Timer
}

func (t *timedReader) Read(p []byte) (int, error) {
	t.silence.Reset(silenceLimit)
	defer t.silence.Stop()
	return t.Reader.Read(p)
}

// readEvents reads events following the given number until receive returns false. The error never is a
// [*Refusal].
func readEvents(stream io.Reader, agent string, after uint64, receive func(Event) bool) error {
	for read, err := range sse.Read(stream, &sse.ReadConfig{MaxEventSize: maxEvent}) {
		if err != nil {
			return err
		}
		after++
		if read.LastEventID != strconv.FormatUint(after, 10) {
			return fmt.Errorf("another event instead of number %d", after)
		}
		if read.Type != "message" && read.Type != "" {
			return fmt.Errorf("event %d: unknown type", after)
		}
		m, err := Parse([]byte(read.Data))
		if err != nil {
			return fmt.Errorf("event %d: %v", after, err)
		}
		if m.to != agent {
			return fmt.Errorf("event %d: message to another recipient", after)
		}
		if !receive(Event{after, m}) {
			return nil
		}
	}
	return errEnded
}
