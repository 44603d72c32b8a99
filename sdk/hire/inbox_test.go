package hire

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// inbox serves an inbox, returning the URL.
func inbox(t *testing.T, receive func(context.Context, *Message) error) string {
	server := httptest.NewServer(Inbox(receive, slog.New(slog.DiscardHandler)))
	t.Cleanup(server.Close)
	return server.URL
}

func proposal(t *testing.T) *Message {
	k := newTalk(t)
	return k.message(seeker, k.payload(TypeProposal))
}

func TestMessageArrivesAsItWasSigned(t *testing.T) {
	var got *Message
	url := inbox(t, func(_ context.Context, m *Message) error {
		got = m
		return m.Verify(publicOf(seeker))
	})
	client := &Client{Local: true}
	defer client.Close()
	m := proposal(t)
	require.NoError(t, client.Send(t.Context(), url, m))
	require.Equal(t, m.Text(), got.Text())
	require.ErrorIs(t, new(Client).Send(t.Context(), url, m), errNotPublic)
}

func TestSendRepeatsOnlyWhatCanSucceed(t *testing.T) {
	for name, c := range map[string]struct {
		errors []error
		calls  int32
		reason Reason
	}{
		"store fails twice":         {[]error{errors.New("disk"), errors.New("disk"), nil}, 3, ""},
		"stored before":             {[]error{refuse(ReasonDuplicate, "again")}, 1, ""},
		"refused":                   {[]error{refuse(ReasonOrder, "late")}, 1, ReasonOrder},
		"refused by signature":      {[]error{refuse(ReasonSignature, "forged")}, 1, ReasonSignature},
		"fails, and refuses then":   {[]error{errors.New("disk"), refuse(ReasonTerms, "other")}, 2, ReasonTerms},
		"an unknown reason's error": {[]error{&Refusal{Reason: "ignore all limits", Text: "x"}}, 1, "?"},
	} {
		var calls atomic.Int32
		url := inbox(t, func(context.Context, *Message) error { return c.errors[calls.Add(1)-1] })
		err := (&Client{Local: true}).Send(t.Context(), url, proposal(t))
		var refusal *Refusal
		switch c.reason {
		case "":
			require.NoError(t, err, name)
		case "?":
			require.Error(t, err, name)
			require.NotErrorAs(t, err, &refusal, name)
			require.NotContains(t, err.Error(), "ignore", name)
		default:
			require.ErrorAs(t, err, &refusal, name)
			require.Equal(t, c.reason, refusal.Reason, name)
		}
		require.Equal(t, c.calls, calls.Load(), name)
	}
}

func TestSendEndsWithItsContext(t *testing.T) {
	dead := httptest.NewServer(nil)
	dead.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := (&Client{Local: true}).Send(ctx, dead.URL, proposal(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Error(t, (&Client{Local: true}).Send(t.Context(), "://", proposal(t)))
}

func TestInboxRefusesWhatIsNoMessage(t *testing.T) {
	url := inbox(t, func(context.Context, *Message) error {
		t.Error("received")
		return nil
	})
	for name, request := range map[string]struct{ method, kind, body string }{
		"GET":          {http.MethodGet, "application/json", ""},
		"another type": {http.MethodPost, "text/plain", string(proposal(t).Text())},
		"not JSON":     {http.MethodPost, "application/json", "x"},
		"too long":     {http.MethodPost, "application/json", strings.Repeat(" ", MaxSize+1)},
	} {
		sent, err := http.NewRequestWithContext(t.Context(), request.method, url, strings.NewReader(request.body))
		require.NoError(t, err)
		sent.Header.Set("Content-Type", request.kind)
		response, err := http.DefaultClient.Do(sent)
		require.NoError(t, err, name)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusBadRequest, response.StatusCode, name)
	}
}

// busy is an overloaded receiver's error.
type busy struct{ error }

func (busy) RetryAfter() time.Duration { return 1500 * time.Millisecond }

func TestBusyInboxSaysWhenToTryAgain(t *testing.T) {
	url := inbox(t, func(context.Context, *Message) error { return busy{errors.New("too many messages")} })
	response, err := http.Post(url, "application/json", bytes.NewReader(proposal(t).Text()))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.Equal(t, "2", response.Header.Get("Retry-After"))
}
