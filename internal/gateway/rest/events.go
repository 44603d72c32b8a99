package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/tmaxmax/go-sse"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/shutdown"
)

const (
	defaultHeartbeat = 15 * time.Second
	defaultMaxStream = 10 * time.Minute
	// recheckInterval is the time between two checks of a stream's caller.
	recheckInterval = 3 * time.Second
	// eventTimeout limits writing an event.
	eventTimeout = 10 * time.Second
)

const eventStream = "text/event-stream"

const eventsHelp = `Server-sent events for the client, the publisher and administrators. The first event is the current
state, and one event follows for each change of the status, the round, the newest offer or answer_pending. Changes
within a second can be one event. The data of each event is the document of GET /api/negotiations/{id}. The stream ends
after an event with a final status, after 10 minutes, when the credentials become invalid, and when the gateway stops.
A client that connects again sends the id of its last event in Last-Event-ID, and receives no event twice.`

// watchInput selects a negotiation, and the last event that the client has received.
type watchInput struct {
	ByUUID
	Last string `header:"Last-Event-ID" maxLength:"256" doc:"The id of the last event, after a reconnection"`
}

func (a *api) addEvents() {
	const id = "watch-negotiation"
	operation := a.operation(http.MethodGet, "/api/events/{id}", id, "Watch a negotiation", http.StatusOK)
	operation.Description = eventsHelp
	operation.Responses = map[string]*huma.Response{
		strconv.Itoa(http.StatusOK): {
			Description: "A stream of events",
			Content:     map[string]*huma.MediaType{eventStream: {Schema: &huma.Schema{Type: huma.TypeString}}},
		},
		strconv.Itoa(http.StatusNoContent): {
			Description: "Last-Event-ID is the id of an event with a final status: no event follows",
		},
	}
	huma.Register(a.API, operation, func(ctx context.Context, in *watchInput) (*huma.StreamResponse, error) {
		caller, ok := identity.FromContext(ctx)
		if !ok {
			return nil, huma.Error500InternalServerError("the request has no caller")
		}
		watch, err := a.Service.Watch(caller, in.ID)
		if err != nil {
			return nil, a.failed(ctx, id, err)
		}
		first, _, err := watch.Next(ctx, 0)
		if err != nil {
			watch.Close()
			return nil, a.failed(ctx, id, err)
		}
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			defer watch.Close()
			if first.Status.IsFinal() && in.Last == eventID(first) {
				ctx.SetStatus(http.StatusNoContent) // the status ends the reconnections of browsers
				return
			}
			r, w := humago.Unwrap(ctx)
			err := a.streamEvents(w, r, watch, first, in.Last)
			var refused *identity.Error
			var known *service.Error
			if err != nil && r.Context().Err() == nil && !errors.As(err, &refused) && !errors.As(err, &known) {
				a.Log.ErrorContext(r.Context(), "event stream failed", "negotiation", in.ID, "error", err)
			}
		}}, nil
	})
}

// eventID identifies a state of a negotiation. It includes CompletedAt, because a timeout does not change
// LastActivityAt, and the round, status and party, because two changes can share a time.
func eventID(d service.Details) string {
	changed := d.LastActivityAt
	if d.CompletedAt.After(changed) {
		changed = d.CompletedAt
	}
	return fmt.Sprintf("%d-%d-%s-%s", changed.UnixMicro(), d.Round, d.Status, d.OfferBy)
}

// streamEvents sends a negotiation's states until one of them is final. It returns nil if the status is final, the
// time limit is over, the server shuts down, or the client is slow or has disconnected.
func (a *api) streamEvents(
	w http.ResponseWriter, r *http.Request, watch *service.Watch, first service.Details, last string,
) error {
	ctx, cancel := shutdown.Context(r.Context())
	defer cancel()
	ctx, cancelLimit := context.WithTimeout(ctx, a.MaxStream)
	defer cancelLimit()
	out := events{w, http.NewResponseController(w)}
	w.Header().Set("Content-Type", eventStream)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx
	if r.Method == http.MethodHead {
		return nil // the router serves HEAD like GET
	}
	var err error
	if eventID(first) == last {
		err = out.comment("no change")
	} else {
		err = out.state(first)
	}
	state, checked, sent := first, time.Now(), time.Now()
	for err == nil && !state.Status.IsFinal() {
		if time.Since(checked) >= recheckInterval {
			if err := a.recheck(r.WithContext(ctx), watch); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
			checked = time.Now()
		}
		if time.Since(sent) >= a.Heartbeat {
			err, sent = out.comment("heartbeat"), time.Now()
			continue
		}
		next, changed, problem := watch.Next(ctx, min(recheckInterval, time.Until(sent.Add(a.Heartbeat))))
		switch {
		case ctx.Err() != nil:
			return nil
		case problem != nil:
			return problem
		case changed:
			state, sent = next, time.Now()
			err = out.state(state)
		}
	}
	return nil // a writing error is the client's
}

// recheck returns an error if the caller can no longer read the negotiation.
func (a *api) recheck(r *http.Request, watch *service.Watch) error {
	if err := a.Authenticator.Recheck(r); err != nil {
		return err
	}
	return watch.Check(r.Context())
}

// events writes a stream. It limits each write's time instead of the whole response's.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (e events) state(d service.Details) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	message := &sse.Message{ID: sse.ID(eventID(d))}
	message.AppendData(string(text))
	return e.send(message)
}

func (e events) comment(text string) error {
	message := &sse.Message{}
	message.AppendComment(text)
	return e.send(message)
}

func (e events) send(message *sse.Message) error {
	if err := e.control.SetWriteDeadline(time.Now().Add(eventTimeout)); err != nil {
		return err
	}
	if _, err := message.WriteTo(e.w); err != nil {
		return err
	}
	return e.control.Flush()
}
