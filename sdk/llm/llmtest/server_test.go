package llmtest_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/haggle-protocol/haggle/sdk/llm/llmtest"
)

// paths lists the paths below server URLs.
var paths = map[llmtest.API]string{
	llmtest.Responses: "/responses", llmtest.ChatCompletions: "/chat/completions",
	llmtest.AzureResponses:       "/openai/responses?api-version=" + llmtest.APIVersion,
	llmtest.AzureChatCompletions: "/openai/deployments/m/chat/completions?api-version=" + llmtest.APIVersion,
	llmtest.Messages:             "/v1/messages",
}

// call is a request that is sent without an SDK.
type call struct {
	path   string
	header http.Header
	body   map[string]any
}

// valid returns a valid request.
func valid(api llmtest.API) call {
	c := call{path: paths[api], header: http.Header{"Content-Type": {"application/json"}}}
	var parsed map[string]any
	if err := json.Unmarshal([]byte(schema), &parsed); err != nil {
		panic(err)
	}
	format := map[string]any{"type": "json_schema", "name": "turn", "strict": true, "schema": parsed}
	user := []any{map[string]any{"role": "user", "content": "{}"}}
	switch api {
	case llmtest.Responses, llmtest.AzureResponses:
		c.body = map[string]any{"input": "{}", "max_output_tokens": 500, "text": map[string]any{"format": format}}
	case llmtest.ChatCompletions, llmtest.AzureChatCompletions:
		delete(format, "type")
		c.body = map[string]any{"messages": user, "max_completion_tokens": 500, "response_format": map[string]any{
			"type": "json_schema", "json_schema": format,
		}}
	case llmtest.Messages:
		c.body = map[string]any{"messages": user, "max_tokens": 500, "output_config": map[string]any{
			"format": map[string]any{"type": "json_schema", "schema": parsed},
		}}
		c.header.Set("Anthropic-Version", "2023-06-01")
	}
	c.body["model"] = "m"
	switch api {
	case llmtest.Responses, llmtest.ChatCompletions:
		c.header.Set("Authorization", "Bearer "+plantedKey)
	case llmtest.AzureResponses, llmtest.AzureChatCompletions:
		c.header.Set("Api-Key", plantedKey)
	case llmtest.Messages:
		c.header.Set("X-Api-Key", plantedKey)
	}
	return c
}

func (c call) send(t *testing.T, server *llmtest.Server) (int, string) {
	t.Helper()
	body, err := json.Marshal(c.body)
	require.NoError(t, err)
	url := server.URL() + c.path
	sent, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(string(body)))
	require.NoError(t, err)
	sent.Header = c.header
	client := server.HTTPClient()
	defer client.CloseIdleConnections()
	response, err := client.Do(sent)
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(content)
}

// TestInvalidRequestsAreRejected shows that servers are as strict as the vendors.
func TestInvalidRequestsAreRejected(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api llmtest.API) {
		server := start(t, llmtest.Config{API: api, Model: "m"})
		status, body := valid(api).send(t, server)
		require.Equal(t, http.StatusOK, status, body)
		for name, c := range map[string]struct {
			status int
			change func(*call)
		}{
			"no key": {401, func(c *call) {
				c.header = http.Header{"Content-Type": {"application/json"}}
			}},
			"wrong key":         {401, func(c *call) { replace(c.header, plantedKey, "other") }},
			"wrong path":        {404, func(c *call) { c.path = "/v2" + c.path }},
			"content type":      {415, func(c *call) { c.header.Set("Content-Type", "text/plain") }},
			"unknown parameter": {400, func(c *call) { c.body["future"] = 1 }},
			"unknown model": {404, func(c *call) {
				c.body["model"], c.path = "x", strings.Replace(c.path, "/m/", "/x/", 1)
			}},
			"no model": {400, func(c *call) { delete(c.body, "model") }},
			"no input": {400, func(c *call) { delete(c.body, "messages"); delete(c.body, "input") }},
			"no token limit": {400, func(c *call) {
				maps.DeleteFunc(c.body, func(name string, _ any) bool { return strings.HasPrefix(name, "max_") })
			}},
			"stream": {400, func(c *call) { c.body["stream"] = true }},
			"no schema": {400, func(c *call) {
				delete(c.body, "text")
				delete(c.body, "response_format")
				delete(c.body, "output_config")
			}},
			"not JSON": {400, func(c *call) { c.body = nil }},
		} {
			changed := valid(api)
			c.change(&changed)
			status, body := changed.send(t, server)
			assert.Equal(t, c.status, status, "%s: %s", name, body)
			assert.Contains(t, body, `"error":{`, name)
			assert.Contains(t, body, `"message":`, name)
		}
		assert.Equal(t, 12, server.Totals().Rejected)
		assert.NotEmpty(t, server.Rejection())
		assert.Equal(t, 1, server.Totals().Requests)
	})
}

func replace(header http.Header, before, after string) {
	for _, values := range header {
		for i := range values {
			values[i] = strings.ReplaceAll(values[i], before, after)
		}
	}
}

// TestVersionsOfAPIsAreNeeded shows that Azure needs a version in the query, and Anthropic in a header.
func TestVersionsOfAPIsAreNeeded(t *testing.T) {
	t.Parallel()
	azure := valid(llmtest.AzureResponses)
	azure.path, _, _ = strings.Cut(azure.path, "?")
	status, _ := azure.send(t, start(t, llmtest.Config{API: llmtest.AzureResponses}))
	assert.Equal(t, http.StatusNotFound, status)
	messages := valid(llmtest.Messages)
	messages.header.Del("Anthropic-Version")
	status, _ = messages.send(t, start(t, llmtest.Config{API: llmtest.Messages}))
	assert.Equal(t, http.StatusBadRequest, status)
}

// TestRandomFaultsRepeatWithTheirSeed shows that equal seeds give equal faults, at about the given rate.
func TestRandomFaultsRepeatWithTheirSeed(t *testing.T) {
	t.Parallel()
	statuses := func(seed uint64) (list []int) {
		server := start(t, llmtest.Config{
			Plan:   []llmtest.Fault{llmtest.Status(503), {}},
			Random: []llmtest.Chance{{Fault: llmtest.Status(500), Probability: 0.3}}, Seed: seed,
		})
		for range 42 {
			status, _ := valid(llmtest.Responses).send(t, server)
			list = append(list, status)
		}
		return list
	}
	first := statuses(1)
	assert.Equal(t, []int{503, 200}, first[:2])
	assert.Equal(t, first, statuses(1))
	assert.NotEqual(t, first, statuses(2))
	failures := 0
	for _, status := range first[2:] {
		if status == 500 {
			failures++
		}
	}
	assert.InDelta(t, 12, failures, 8)
}

// TestCloseEndsHeldResponses shows that closing leaves no goroutine, although responses hang.
func TestCloseEndsHeldResponses(t *testing.T) {
	before := goleak.IgnoreCurrent()
	server, err := llmtest.Start(llmtest.Config{Key: plantedKey, Plan: []llmtest.Fault{llmtest.Hang()}})
	require.NoError(t, err)
	client := server.HTTPClient()
	failed := make(chan error)
	go func() {
		sent, _ := http.NewRequest(http.MethodPost, server.URL()+"/responses", strings.NewReader(body(t)))
		sent.Header = valid(llmtest.Responses).header
		response, err := client.Do(sent)
		if err == nil {
			response.Body.Close()
		}
		failed <- err
	}()
	<-server.Held()
	server.Close()
	require.Error(t, <-failed)
	client.CloseIdleConnections()
	goleak.VerifyNone(t, before)
}

func body(t *testing.T) string {
	t.Helper()
	content, err := json.Marshal(valid(llmtest.Responses).body)
	require.NoError(t, err)
	return string(content)
}

// TestFaultsHaveDistinctNames shows that faults can be chosen by their names.
func TestFaultsHaveDistinctNames(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, fault := range llmtest.Faults() {
		assert.NotEmpty(t, fault.String())
		assert.False(t, names[fault.String()], fault.String())
		names[fault.String()] = true
	}
	assert.Equal(t, "API 9", llmtest.API(9).String())
	_, err := llmtest.Start(llmtest.Config{API: 9})
	require.EqualError(t, err, "llmtest: unknown API 9")
}
