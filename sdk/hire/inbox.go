package hire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// refusalDocument is a refusal's response body.
type refusalDocument struct {
	Reason Reason `json:"reason"`
	Text   string `json:"text"`
}

// statuses maps reasons to HTTP statuses. All other reasons use 409 Conflict.
var statuses = map[Reason]int{
	ReasonMalformed: http.StatusBadRequest, ReasonVersion: http.StatusBadRequest, ReasonIdentity: http.StatusForbidden,
	ReasonKey: http.StatusForbidden, ReasonSignature: http.StatusForbidden, ReasonClock: http.StatusForbidden,
	ReasonParty: http.StatusForbidden,
}

// Inbox returns a handler that accepts messages by POST. It calls receive for each parsed message; receive
// verifies, applies and stores it. If receive returns nil or, for an already stored message, a [*Refusal] with
// [ReasonDuplicate], the response confirms the arrival. Any other [*Refusal] is sent to the sender with the
// reason. On other errors the sender tries again: if the error implements RetryAfter() time.Duration, after
// this time; otherwise Inbox logs the error. If logger is nil, slog.Default is used.
func Inbox(receive func(context.Context, *Message) error, logger *slog.Logger) http.Handler {
	if logger == nil {
		logger = slog.Default()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := accept(w, r, receive)
		var refusal *Refusal
		var busy interface {
			error
			RetryAfter() time.Duration
		}
		switch {
		case err == nil, errors.As(err, &refusal) && refusal.Reason == ReasonDuplicate:
			w.WriteHeader(http.StatusAccepted)
		case refusal != nil:
			WriteRefusal(w, refusal)
		case errors.As(err, &busy):
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(busy.RetryAfter().Seconds()))))
			http.Error(w, "the receiver is busy: try again later", http.StatusServiceUnavailable)
		default:
			logger.ErrorContext(r.Context(), "message not received", "error", err)
			http.Error(w, "the message is not stored: try again", http.StatusServiceUnavailable)
		}
	})
}

// WriteRefusal writes the response to a refused request: the reason's status, and
// {"reason":CODE,"text":TEXT}.
func WriteRefusal(w http.ResponseWriter, refusal *Refusal) {
	status := statuses[refusal.Reason]
	if status == 0 {
		status = http.StatusConflict
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(refusalDocument{refusal.Reason, refusal.Text})
}

func accept(w http.ResponseWriter, r *http.Request, receive func(context.Context, *Message) error) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Method != http.MethodPost || err != nil ||
		kind != jsonType {
		return refuse(ReasonMalformed, "request: must be POST with application/json")
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxSize))
	if err != nil {
		return refuse(ReasonMalformed, "request: the body is incomplete or longer than %d bytes", MaxSize)
	}
	m, err := Parse(data)
	if err != nil {
		return err
	}
	return receive(r.Context(), m)
}
