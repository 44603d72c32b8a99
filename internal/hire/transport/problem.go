package transport

import (
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"

	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

func malformed(text string) error { return &hire.Refusal{Reason: hire.ReasonMalformed, Text: text} }

// fail responds to a failed request. It logs internal errors, and does not send their details.
func (h *handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	var refusal *hire.Refusal
	var overload *service.Overload
	switch {
	case errors.As(err, &refusal):
		hire.WriteRefusal(w, refusal)
	case errors.Is(err, store.ErrNotFound):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"reason":"wrong_party","text":"delivery: not in a conversation of the agent"}`)
	case errors.As(err, &overload):
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(overload.After.Seconds()))))
		http.Error(w, overload.Text, http.StatusServiceUnavailable)
	default:
		if r.Context().Err() == nil {
			h.Log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "error", err)
		}
		http.Error(w, "not served: try again", http.StatusServiceUnavailable)
	}
}
