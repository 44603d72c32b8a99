package anthropic_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/anthropic"
	"github.com/haggle-protocol/haggle/sdk/llm/llmtest"
)

const schema = `{"type":"object","properties":{"price":{"type":"string"}},"required":["price"],` +
	`"additionalProperties":false}`

func request() llm.Request {
	return llm.Request{
		Instructions: "Sell.", Input: "planted", SchemaName: "turn", Schema: []byte(schema), MaxTokens: 100,
	}
}

func keyOf(server *llmtest.Server) llm.Key {
	return llm.KeyFrom("test", func() (string, error) { return server.Key(), nil })
}

func start(t *testing.T) *llmtest.Server {
	t.Helper()
	server, err := llmtest.Start(llmtest.Config{API: llmtest.Messages})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return server
}

func TestConfigIsChecked(t *testing.T) {
	key := llm.KeyFrom("test", func() (string, error) { return "k", nil })
	for want, config := range map[string]anthropic.Config{
		"anthropic: model not set": {Key: key},
		"anthropic: key not set":   {Model: "m"},
		"anthropic: endpoint: URL must use https (http is only for the local machine)": {
			Model: "m", Key: key, BaseURL: "http://planted.example",
		},
	} {
		_, err := anthropic.New(config)
		require.EqualError(t, err, want)
	}
	model, err := anthropic.New(anthropic.Config{Model: "m", Key: key})
	require.NoError(t, err)
	assert.Equal(t, "anthropic:m", model.Name())
	model, err = anthropic.New(anthropic.Config{Model: "m", Key: key, Name: "second"})
	require.NoError(t, err)
	assert.Equal(t, "second", model.Name())
}

// recorder records requests.
type recorder struct {
	next    http.RoundTripper
	request *http.Request
	body    []byte
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.request = request
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	r.body, request.Body = body, io.NopCloser(bytes.NewReader(body))
	return r.next.RoundTrip(request)
}

// TestEnvironmentOfSDKIsIgnored shows that neither credentials, nor URLs, nor headers of the SDK's variables
// are sent.
func TestEnvironmentOfSDKIsIgnored(t *testing.T) {
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "planted", "ANTHROPIC_AUTH_TOKEN": "planted", "ANTHROPIC_PROFILE": "planted",
		"ANTHROPIC_CUSTOM_HEADERS": "X-Planted: planted", "ANTHROPIC_BASE_URL": "https://planted.example",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			server := start(t)
			sent := &recorder{next: server.HTTPClient().Transport}
			model, err := anthropic.New(anthropic.Config{
				Model: "m", Key: keyOf(server), BaseURL: server.URL(), HTTPClient: &http.Client{Transport: sent},
			})
			require.NoError(t, err)
			_, err = model.Respond(t.Context(), request())
			require.NoError(t, err)
			assert.NotContains(t, fmt.Sprint(sent.request.URL, sent.request.Header), "planted")
		})
	}
}

// TestPromptsAreNotTraced shows that the SDK records no spans, although its variables ask for spans with
// prompts.
func TestPromptsAreNotTraced(t *testing.T) {
	t.Setenv("ANTHROPIC_OPEN_TELEMETRY", "true")
	t.Setenv("ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE", "content")
	spans := tracetest.NewSpanRecorder()
	before := otel.GetTracerProvider()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	server := start(t)
	model, err := anthropic.New(anthropic.Config{Model: "m", Key: keyOf(server), BaseURL: server.URL()})
	require.NoError(t, err)
	_, err = model.Respond(t.Context(), request())
	require.NoError(t, err)
	assert.Empty(t, spans.Started())
}

// TestLargeTokenLimitIsSent shows that the SDK's own limit of responses without a stream does not apply.
func TestLargeTokenLimitIsSent(t *testing.T) {
	server := start(t)
	model, err := anthropic.New(anthropic.Config{
		Model: "claude-opus-4-0", Key: keyOf(server), BaseURL: server.URL(),
	})
	require.NoError(t, err)
	large := request()
	large.MaxTokens = 64000
	_, err = model.Respond(t.Context(), large)
	require.NoError(t, err)
}

// TestInstructionsAreOptional shows that no empty system message is sent, which the API rejects.
func TestInstructionsAreOptional(t *testing.T) {
	server := start(t)
	model, err := anthropic.New(anthropic.Config{Model: "m", Key: keyOf(server), BaseURL: server.URL()})
	require.NoError(t, err)
	short := request()
	short.Instructions = ""
	_, err = model.Respond(t.Context(), short)
	require.NoError(t, err, server.Rejection())
}

// TestTemperatureIsSentIfSet shows that models which accept none get none by default.
func TestTemperatureIsSentIfSet(t *testing.T) {
	key := llm.KeyFrom("test", func() (string, error) { return "k", nil })
	sent := &recorder{next: constant(`{}`)}
	model, err := anthropic.New(anthropic.Config{Model: "m", Key: key, HTTPClient: &http.Client{Transport: sent}})
	require.NoError(t, err)
	plain, warm := request(), request()
	warm.Temperature = new(0.0)
	_, err = model.Respond(t.Context(), plain)
	require.Error(t, err)
	assert.NotContains(t, string(sent.body), "temperature")
	_, err = model.Respond(t.Context(), warm)
	require.Error(t, err)
	assert.Contains(t, string(sent.body), `"temperature":0,`)
}

// constant is a transport that always returns the same JSON.
type constant string

func (c constant) RoundTrip(request *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader([]byte(c))), Request: request,
	}, nil
}

// TestUsageIncludesCaches shows that the tokens that the API reads from its cache and writes to it are input
// tokens, and that impossible counts are unknown.
func TestUsageIncludesCaches(t *testing.T) {
	key := llm.KeyFrom("test", func() (string, error) { return "k", nil })
	for usage, want := range map[string]llm.Usage{
		`{"input_tokens":5,"cache_read_input_tokens":70,"cache_creation_input_tokens":9,"output_tokens":4}`: {
			InputTokens: 84, CachedInputTokens: 70, OutputTokens: 4, Known: true,
		},
		`{"input_tokens":5,"output_tokens":4}`: {InputTokens: 5, OutputTokens: 4, Known: true},
		`{"input_tokens":5}`:                   {},
		`null`:                                 {},
		`{"input_tokens":5,"cache_read_input_tokens":-2,"output_tokens":4}`:                   {},
		`{"input_tokens":9000000000000000000,"output_tokens":4}`:                              {},
		`{"input_tokens":5,"cache_creation_input_tokens":9000000000000000,"output_tokens":4}`: {},
	} {
		body := `{"type":"message","content":[{"type":"text","text":"{}"}],"stop_reason":"end_turn",` +
			`"usage":` + usage + `}`
		model, err := anthropic.New(anthropic.Config{
			Model: "m", Key: key, HTTPClient: &http.Client{Transport: constant(body)},
		})
		require.NoError(t, err)
		response, err := model.Respond(t.Context(), request())
		require.NoError(t, err)
		assert.Equal(t, want, response.Usage, usage)
	}
}

// TestStopReasonDecidesResult shows the results of stop reasons that llmtest does not send.
func TestStopReasonDecidesResult(t *testing.T) {
	key := llm.KeyFrom("test", func() (string, error) { return "k", nil })
	for reason, want := range map[string]string{
		"model_context_window_exceeded": "truncated", "pause_turn": "calls a tool",
		"future_reason": "unknown reason", "": "unknown reason",
	} {
		body := `{"type":"message","content":[{"type":"text","text":"{}"}],"stop_reason":"` + reason + `"}`
		model, err := anthropic.New(anthropic.Config{
			Model: "m", Key: key, HTTPClient: &http.Client{Transport: constant(body)},
		})
		require.NoError(t, err)
		_, err = model.Respond(t.Context(), request())
		require.IsType(t, &llm.ResponseError{}, err)
		require.ErrorContains(t, err, want)
	}
}

func Example() {
	server, err := llmtest.Start(llmtest.Config{
		API: llmtest.Messages, Script: func(llmtest.Request) string { return `{"price":"12.50"}` },
	})
	if err != nil {
		panic(err)
	}
	defer server.Close()

	model, err := anthropic.New(anthropic.Config{
		Model:   "claude-sonnet-4-5",
		Key:     keyOf(server), // llm.KeyFromFile("/run/secrets/anthropic-key")
		BaseURL: server.URL(),  // leave it empty for Anthropic
	})
	if err != nil {
		panic(err)
	}
	response, err := model.Respond(context.Background(), llm.Request{
		Instructions: "You sell. Answer with a price.", Input: `{"round":1}`,
		SchemaName: "turn", Schema: []byte(schema), MaxTokens: 100,
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(model.Name(), string(response.JSON), response.Usage.Known)
	// Output: anthropic:claude-sonnet-4-5 {"price":"12.50"} true
}
