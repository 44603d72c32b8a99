package llmtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/llmtest"
)

// result is what Respond returns with a fault.
type result int

const (
	usable result = iota
	temporary
	refusal
	unusable
)

// expectation describes a fault's result.
type expectation struct {
	fault  llmtest.Fault
	result result
	// status and retryAfter describe a temporary error.
	status     int
	retryAfter time.Duration
	// counted reports whether the result contains the usage.
	counted bool
	text    string
}

func expectations() []expectation {
	const pause = 7 * time.Second
	return []expectation{
		{fault: llmtest.Fault{}, counted: true},
		{fault: llmtest.Extra(), counted: true},
		{fault: llmtest.SlowBody(0), counted: true},
		{fault: llmtest.WrongSchema(), counted: true},
		{fault: llmtest.LimitBreaking(), counted: true},
		{fault: llmtest.NoUsage()},
		{fault: llmtest.NegativeUsage()},

		{fault: llmtest.Status(408), result: temporary, status: 408},
		{fault: llmtest.Status(409), result: temporary, status: 409},
		{fault: llmtest.Status(429), result: temporary, status: 429},
		{fault: llmtest.Status(500), result: temporary, status: 500},
		{fault: llmtest.Status(503), result: temporary, status: 503},
		{fault: llmtest.Status(529), result: temporary, status: 529},
		{fault: llmtest.RateLimit(pause), result: temporary, status: 429, retryAfter: pause},
		{fault: llmtest.RateLimitDate(pause), result: temporary, status: 429, retryAfter: pause},
		{fault: llmtest.InsufficientQuota(), result: temporary, status: 429},
		{fault: llmtest.Disconnect(), result: temporary, text: "connection closed"},
		{fault: llmtest.NotHTTP(), result: temporary, text: "connection closed"},
		{fault: llmtest.CutBody(), result: temporary, status: 200, text: "cut off"},

		{fault: llmtest.Refusal(), result: refusal, counted: true},
		{fault: llmtest.Filtered(), result: refusal, counted: true},

		{fault: llmtest.Status(400), result: unusable, text: "HTTP status 400"},
		{fault: llmtest.Status(401), result: unusable, text: "HTTP status 401"},
		{fault: llmtest.Status(404), result: unusable, text: "HTTP status 404"},
		{fault: llmtest.EchoRequest(), result: unusable, text: "HTTP status 400"},
		{fault: llmtest.EnormousBody(), result: unusable, text: "longer than"},
		{fault: llmtest.CompressedBody(), result: unusable, text: "longer than"},
		{fault: llmtest.MalformedBody(), result: unusable, text: "not the API's JSON"},
		{fault: llmtest.EmptyBody(), result: unusable, text: "not the API's JSON"},
		{fault: llmtest.WrongContentType(), result: unusable, text: "not the API's JSON"},
		{fault: llmtest.Prose(), result: unusable, counted: true, text: "not a JSON object"},
		{fault: llmtest.MalformedText(), result: unusable, counted: true, text: "not a JSON object"},
		{fault: llmtest.EchoKey(), result: unusable, counted: true, text: "contains the API key"},
		{fault: llmtest.ToolCall(), result: unusable, counted: true, text: "calls a tool"},
		{fault: llmtest.Truncated(), result: unusable, counted: true, text: "truncated"},
		{fault: llmtest.NoChoices(), result: unusable, counted: true, text: "contains no"},
	}
}

// TestFaultsGiveDocumentedErrors shows that each fault of each API gives the documented error after one
// request, with the reported usage, and without the key, the prompt, or the model output.
func TestFaultsGiveDocumentedErrors(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api llmtest.API) {
		for _, expected := range expectations() {
			t.Run(expected.fault.String(), func(t *testing.T) {
				t.Parallel()
				server := start(t, llmtest.Config{API: api, Plan: []llmtest.Fault{expected.fault}})
				response, err := connect(t, api, server, serverKey()).Respond(t.Context(), request())
				expected.check(t, server, response, err)
			})
		}
	})
}

func (e expectation) check(t *testing.T, server *llmtest.Server, response *llm.Response, err error) {
	t.Helper()
	assert.Empty(t, server.Rejection())
	assert.Equal(t, 1, server.Totals().Requests, "exactly one request")
	if e.result == usable {
		require.NoError(t, err)
		assert.True(t, json.Valid(response.JSON))
		e.usage(t, server, response.Usage)
		return
	}
	require.Error(t, err)
	assert.Nil(t, response)
	requireNothingPlanted(t, err)
	assert.ErrorContains(t, err, e.text)
	switch e.result {
	case temporary:
		failure, is := errors.AsType[*llm.TemporaryError](err)
		require.True(t, is, "%v", err)
		assert.Equal(t, e.status, failure.Status)
		assert.Equal(t, e.retryAfter, failure.RetryAfter)
		e.usage(t, server, failure.Usage)
	case refusal:
		failure, is := errors.AsType[*llm.RefusalError](err)
		require.True(t, is, "%v", err)
		e.usage(t, server, failure.Usage)
	case unusable:
		failure, is := errors.AsType[*llm.ResponseError](err)
		require.True(t, is, "%v", err)
		assert.Equal(t, strings.HasPrefix(e.text, "HTTP status 4"), failure.Unprocessed)
		e.usage(t, server, failure.Usage)
	}
}

// usage checks that a result's usage is the server's.
func (e expectation) usage(t *testing.T, server *llmtest.Server, used llm.Usage) {
	t.Helper()
	require.Equal(t, e.counted, used.Known)
	reported := server.Totals().Reported
	assert.Equal(t, reported, llmtest.Usage{
		Input: used.InputTokens, Cached: used.CachedInputTokens, Output: used.OutputTokens,
	})
	assert.Equal(t, e.counted, reported.Input > 0)
}

// requireNothingPlanted searches everything shown by an error for the key, the prompt and the model output.
func requireNothingPlanted(t *testing.T, err error) {
	t.Helper()
	slog.Error("request failed", "error", err, "details", fmt.Sprintf("%#v", err))
	var shown strings.Builder
	for ; err != nil; err = errors.Unwrap(err) {
		fmt.Fprintf(&shown, "%v\n%+v\n%#v\n%q\n", err, err, err, err)
		if encoded, failed := json.Marshal(err); failed == nil {
			shown.Write(encoded)
		}
		_, isHTTP := err.(interface{ DumpRequest(bool) []byte })
		assert.False(t, isHTTP, "error contains the request")
	}
	for _, planted := range []string{plantedKey, plantedPrompt, plantedText} {
		require.NotContains(t, shown.String(), planted)
	}
}

// TestContentFilterOfAzureIsRefusal shows that a rejected prompt is a refusal at OpenAI's APIs.
func TestContentFilterOfAzureIsRefusal(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api llmtest.API) {
		expected := expectation{result: refusal}
		if api == llmtest.Messages { // its API does not know the code
			expected = expectation{result: unusable, text: "HTTP status 400"}
		}
		server := start(t, llmtest.Config{API: api, Plan: []llmtest.Fault{llmtest.ContentFilter()}})
		response, err := connect(t, api, server, serverKey()).Respond(t.Context(), request())
		expected.check(t, server, response, err)
	})
}

// TestContextEndsRequest shows that the context's end also ends a request that hangs at the server.
func TestContextEndsRequest(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api llmtest.API) {
		for _, fault := range []llmtest.Fault{llmtest.Hang(), llmtest.Stall(), llmtest.SlowBody(time.Hour)} {
			t.Run(fault.String(), func(t *testing.T) {
				t.Parallel()
				server := start(t, llmtest.Config{API: api, Plan: []llmtest.Fault{fault, fault}})
				model := connect(t, api, server, serverKey())

				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				failed := make(chan error)
				go func() {
					_, err := model.Respond(ctx, request())
					failed <- err
				}()
				select {
				case <-server.Held():
				case err := <-failed:
					t.Fatal("ended before the context", err)
				}
				cancel()
				require.ErrorIs(t, <-failed, context.Canceled)

				late, cancelLate := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancelLate()
				_, err := model.Respond(late, request())
				require.ErrorIs(t, err, context.DeadlineExceeded)

				ended, end := context.WithCancel(t.Context())
				end()
				_, err = model.Respond(ended, request())
				require.ErrorIs(t, err, context.Canceled)
				requireNothingPlanted(t, err)
			})
		}
	})
}

// TestTimeoutOfHTTPClientIsTemporary shows that the caller's HTTP client limit is not taken for the context's.
func TestTimeoutOfHTTPClientIsTemporary(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api llmtest.API) {
		for _, fault := range []llmtest.Fault{llmtest.Hang(), llmtest.Stall()} {
			server := start(t, llmtest.Config{API: api, Plan: []llmtest.Fault{fault}})
			client := server.HTTPClient()
			client.Timeout = 100 * time.Millisecond
			_, err := connectWith(t, api, server, serverKey(), client).Respond(t.Context(), request())
			failure, is := errors.AsType[*llm.TemporaryError](err)
			require.True(t, is, "%v", err)
			require.ErrorContains(t, failure, "timed out")
			requireNothingPlanted(t, err)
		}
	})
}

// TestRedirectIsNotFollowed shows that no request reaches another host, whatever the HTTP client permits.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("request reached the other host: %v", r.Header)
	}))
	t.Cleanup(other.Close)
	eachAPI(t, func(t *testing.T, api llmtest.API) {
		server := start(t, llmtest.Config{API: api, Plan: []llmtest.Fault{
			llmtest.Redirect(other.URL), llmtest.Redirect("/same-host"),
		}})
		client := server.HTTPClient()
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return nil }
		model := connectWith(t, api, server, serverKey(), client)
		for range 2 {
			_, err := model.Respond(t.Context(), request())
			failure, is := errors.AsType[*llm.ResponseError](err)
			require.True(t, is, "%v", err)
			require.ErrorContains(t, failure, "redirects are not followed")
			requireNothingPlanted(t, err)
		}
		assert.Equal(t, 2, server.Totals().Requests+server.Totals().Rejected)
	})
}
