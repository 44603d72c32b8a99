package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/llmtest"
	"github.com/haggle-protocol/haggle/sdk/llm/openai"
)

const schema = `{"type":"object","properties":{"price":{"type":"string"}},"required":["price"],` +
	`"additionalProperties":false}`

func request() llm.Request {
	return llm.Request{
		Instructions: "Sell.", Input: "{}", SchemaName: "turn", Schema: []byte(schema), MaxTokens: 100,
	}
}

func keyOf(server *llmtest.Server) llm.Key {
	return llm.KeyFrom("test", func() (string, error) { return server.Key(), nil })
}

// recorder records requests, and can answer them itself.
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
	if r.next == nil {
		return nil, io.EOF
	}
	return r.next.RoundTrip(request)
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	key := llm.KeyFrom("test", func() (string, error) { return "k", nil })
	azure := openai.Azure{Endpoint: "https://planted.example", APIVersion: "2025-04-01-preview"}
	for want, config := range map[string]openai.Config{
		"openai: model not set": {Key: key},
		"openai: key not set":   {Model: "m"},
		"openai: unknown API 7": {Model: "m", Key: key, API: 7},
		"openai: Azure.APIVersion not set": {
			Model: "m", Key: key, Azure: openai.Azure{Endpoint: "https://a.example"},
		},
		"openai: Azure and BaseURL exclude each other": {
			Model: "m", Key: key, Azure: azure, BaseURL: "https://a.example",
		},
		"openai: endpoint: URL must use https": {
			Model: "m", Key: key,
			Azure: openai.Azure{Endpoint: "http://127.0.0.1", APIVersion: "2025-04-01-preview"},
		},
		"openai: endpoint: URL must use https (http is only for the local machine)": {
			Model: "m", Key: key, BaseURL: "http://planted.example/v1",
		},
		"openai: endpoint: URL must contain only scheme, host and path": {
			Model: "m", Key: key, BaseURL: "https://planted@a.example/v1",
		},
	} {
		_, err := openai.New(config)
		require.EqualError(t, err, want)
	}
	for name, config := range map[string]openai.Config{
		"openai:m": {Model: "m", Key: key},
		"azure:m":  {Model: "m", Key: key, Azure: azure},
		"second":   {Model: "m", Name: "second", BaseURL: "http://localhost:11434/v1"},
	} {
		model, err := openai.New(config)
		require.NoError(t, err)
		assert.Equal(t, name, model.Name())
	}
}

// TestTokenLimitFitsEndpoint shows which parameter limits chat completions: OpenAI's models reject the older
// one, and many compatible endpoints know no other.
func TestTokenLimitFitsEndpoint(t *testing.T) {
	t.Parallel()
	key := llm.KeyFrom("test", func() (string, error) { return "k", nil })
	azure := openai.Azure{Endpoint: "https://a.example", APIVersion: "2025-04-01-preview"}
	for _, c := range []struct {
		config openai.Config
		want   string
	}{
		{openai.Config{}, "max_completion_tokens"},
		{openai.Config{BaseURL: "https://eu.api.openai.com/v1"}, "max_completion_tokens"},
		{openai.Config{Azure: azure}, "max_completion_tokens"},
		{openai.Config{BaseURL: "http://localhost:11434/v1"}, "max_tokens"},
		{openai.Config{BaseURL: "https://notopenai.com/v1"}, "max_tokens"},
	} {
		sent := &recorder{}
		c.config.Model, c.config.Key, c.config.API = "m", key, openai.ChatCompletions
		c.config.HTTPClient = &http.Client{Transport: sent}
		model, err := openai.New(c.config)
		require.NoError(t, err)
		_, err = model.Respond(t.Context(), request())
		require.Error(t, err)
		var fields map[string]any
		require.NoError(t, json.Unmarshal(sent.body, &fields))
		for _, name := range []string{"max_completion_tokens", "max_tokens"} {
			assert.Equal(t, name == c.want, fields[name] == 100.0, "%s: %s", c.config.BaseURL, name)
		}
	}
}

// TestEnvironmentOfSDKIsIgnored shows that neither keys, nor URLs, nor headers of the SDK's variables are
// sent.
func TestEnvironmentOfSDKIsIgnored(t *testing.T) {
	for _, name := range []string{
		"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET",
	} {
		t.Setenv(name, "planted")
	}
	t.Setenv("OPENAI_BASE_URL", "https://planted.example")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Planted: planted")
	for _, config := range []openai.Config{
		{BaseURL: "http://localhost:1/v1"},
		{Key: llm.KeyFrom("test", func() (string, error) { return "own", nil })},
	} {
		for _, api := range []openai.API{openai.Responses, openai.ChatCompletions} {
			sent := &recorder{}
			config.Model, config.API, config.HTTPClient = "m", api, &http.Client{Transport: sent}
			model, err := openai.New(config)
			require.NoError(t, err)
			_, err = model.Respond(t.Context(), request())
			require.ErrorContains(t, err, "connection closed")
			assert.NotContains(t, fmt.Sprint(sent.request.URL, sent.request.Header, string(sent.body)), "planted")
			if config.Key.IsZero() {
				assert.Empty(t, sent.request.Header.Get("Authorization"))
			} else {
				assert.Equal(t, "Bearer own", sent.request.Header.Get("Authorization"))
				assert.Equal(t, "api.openai.com", sent.request.URL.Host)
			}
		}
	}
}

// TestTemperatureIsSentIfSet shows that models which accept none get none by default.
func TestTemperatureIsSentIfSet(t *testing.T) {
	t.Parallel()
	for _, api := range []openai.API{openai.Responses, openai.ChatCompletions} {
		sent := &recorder{}
		model, err := openai.New(openai.Config{
			Model: "m", API: api, BaseURL: "http://localhost:1/v1", HTTPClient: &http.Client{Transport: sent},
		})
		require.NoError(t, err)
		plain, warm := request(), request()
		warm.Temperature = new(0.25)
		_, err = model.Respond(t.Context(), plain)
		require.Error(t, err)
		assert.NotContains(t, string(sent.body), "temperature")
		_, err = model.Respond(t.Context(), warm)
		require.Error(t, err)
		assert.Contains(t, string(sent.body), `"temperature":0.25`)
	}
}

// TestResponsesAreNotStored shows that OpenAI is not asked to keep prompts.
func TestResponsesAreNotStored(t *testing.T) {
	t.Parallel()
	sent := &recorder{}
	model, err := openai.New(openai.Config{
		Model: "m", BaseURL: "http://localhost:1/v1", HTTPClient: &http.Client{Transport: sent},
	})
	require.NoError(t, err)
	_, err = model.Respond(t.Context(), request())
	require.Error(t, err)
	assert.Contains(t, string(sent.body), `"store":false`)
}

// TestInvalidSchemaIsNotSent shows that a request without a schema fails before it is sent.
func TestInvalidSchemaIsNotSent(t *testing.T) {
	t.Parallel()
	sent := &recorder{}
	model, err := openai.New(openai.Config{
		Model: "m", BaseURL: "http://localhost:1/v1", HTTPClient: &http.Client{Transport: sent},
	})
	require.NoError(t, err)
	for _, schema := range []string{"", "null", "[]", `{"type":`} {
		invalid := request()
		invalid.Schema = []byte(schema)
		_, err = model.Respond(t.Context(), invalid)
		require.ErrorContains(t, err, "schema is not a JSON object")
	}
	assert.Nil(t, sent.request)
}

// TestFailedResponseIsClassified shows the results of responses that OpenAI ends with an error after it has
// accepted the request.
func TestFailedResponseIsClassified(t *testing.T) {
	t.Parallel()
	const usage = `"usage":{"input_tokens":11,"input_tokens_details":{"cached_tokens":3},"output_tokens":2}`
	used := llm.Usage{InputTokens: 11, CachedInputTokens: 3, OutputTokens: 2, Known: true}
	message := func(text string) string {
		return `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}`
	}
	for _, c := range []struct {
		body string
		want error
	}{
		{`"status":"failed","error":{"code":"server_error","message":"planted"}`, &llm.TemporaryError{}},
		{`"status":"failed","error":{"code":"rate_limit_exceeded","message":"planted"}`, &llm.TemporaryError{}},
		{`"status":"failed","error":{"code":"invalid_prompt","message":"planted"}`, &llm.ResponseError{}},
		{`"status":"in_progress","output":[]`, &llm.ResponseError{}},
		{`"output":[` + message("{}") + `]`, &llm.ResponseError{}},
		{`"status":"completed","output":[` + message("{}") + `,` + message("{}") + `]`, &llm.ResponseError{}},
		{`"status":"completed","output":[{"type":"web_search_call"},` + message("{}") + `]`, &llm.ResponseError{}},
		{`"status":"incomplete","incomplete_details":{"reason":"content_filter"}`, &llm.RefusalError{}},
	} {
		model, err := openai.New(openai.Config{
			Model: "m", BaseURL: "http://localhost:1/v1",
			HTTPClient: &http.Client{Transport: constant(`{"id":"r",` + c.body + `,` + usage + `}`)},
		})
		require.NoError(t, err)
		_, err = model.Respond(t.Context(), request())
		require.IsType(t, c.want, err, c.body)
		assert.NotContains(t, err.Error(), "planted")
		switch err := err.(type) {
		case *llm.TemporaryError:
			assert.Equal(t, used, err.Usage)
		case *llm.ResponseError:
			assert.Equal(t, used, err.Usage)
		case *llm.RefusalError:
			assert.Equal(t, used, err.Usage)
		}
	}
}

// constant is a transport that always returns the same JSON.
type constant string

func (c constant) RoundTrip(request *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader([]byte(c))), Request: request,
	}, nil
}

func Example() {
	server, err := llmtest.Start(llmtest.Config{
		Script: func(llmtest.Request) string { return `{"price":"12.50"}` },
	})
	if err != nil {
		panic(err)
	}
	defer server.Close()

	model, err := openai.New(openai.Config{
		Model:   "gpt-5-mini",
		Key:     keyOf(server),    // llm.KeyFromEnvironment("OPENAI_API_KEY")
		BaseURL: server.URL(),     // leave it empty for OpenAI
		API:     openai.Responses, // openai.ChatCompletions for compatible endpoints
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
	// Output: openai:gpt-5-mini {"price":"12.50"} true
}
