package llmtest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/llmtest"
)

// usageOf returns a response's or error's usage.
func usageOf(t *testing.T, response *llm.Response, err error) llm.Usage {
	t.Helper()
	if err == nil {
		return response.Usage
	}
	if failure, is := errors.AsType[*llm.TemporaryError](err); is {
		return failure.Usage
	}
	if failure, is := errors.AsType[*llm.RefusalError](err); is {
		return failure.Usage
	}
	failure, is := errors.AsType[*llm.ResponseError](err)
	require.True(t, is, "%v", err)
	return failure.Usage
}

// TestUsageEqualsCountsOfServer shows that many concurrent requests' usages, with random faults, add up to the
// server's counts, cached tokens included.
func TestUsageEqualsCountsOfServer(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api llmtest.API) {
		config := llmtest.Config{API: api, Seed: 7}
		for _, fault := range []llmtest.Fault{
			llmtest.Status(500), llmtest.CutBody(), llmtest.Refusal(), llmtest.Prose(), llmtest.Truncated(),
			llmtest.ToolCall(), llmtest.MalformedBody(), llmtest.NoUsage(), llmtest.Extra(), llmtest.Disconnect(),
		} {
			config.Random = append(config.Random, llmtest.Chance{Fault: fault, Probability: 0.05})
		}
		config.Script = func(r llmtest.Request) string { return fmt.Sprintf(`{"reason":"%0*d"}`, r.Number, 1) }
		server := start(t, config)
		model := connect(t, api, server, serverKey())
		const requests = 100
		var (
			group sync.WaitGroup
			mu    sync.Mutex
			sum   llmtest.Usage
		)
		for range 4 {
			group.Go(func() {
				for range requests / 4 {
					response, err := model.Respond(t.Context(), request())
					used := usageOf(t, response, err)
					mu.Lock()
					sum.Input += used.InputTokens
					sum.Cached += used.CachedInputTokens
					sum.Output += used.OutputTokens
					mu.Unlock()
				}
			})
		}
		group.Wait()
		totals := server.Totals()
		assert.Equal(t, requests, totals.Requests)
		assert.Equal(t, totals.Reported, sum)
		assert.Positive(t, sum.Cached)
		assert.Greater(t, totals.Billed.Input, totals.Reported.Input, "some responses are billed and not received")
	})
}

// TestRotatedKeyIsUsed shows that a key replaced in the file needs no new model.
func TestRotatedKeyIsUsed(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api llmtest.API) {
		server := start(t, llmtest.Config{API: api})
		path := filepath.Join(t.TempDir(), "key")
		require.NoError(t, os.WriteFile(path, []byte(plantedKey+"\n"), 0o600))
		model := connect(t, api, server, llm.KeyFromFile(path))
		_, err := model.Respond(t.Context(), request())
		require.NoError(t, err)

		server.RotateKey(plantedKey + "-second")
		_, err = model.Respond(t.Context(), request())
		require.ErrorContains(t, err, "HTTP status 401")
		requireNothingPlanted(t, err)

		require.NoError(t, os.WriteFile(path, []byte(plantedKey+"-second"), 0o600))
		_, err = model.Respond(t.Context(), request())
		require.NoError(t, err)

		require.NoError(t, os.Chmod(path, 0o644))
		_, err = model.Respond(t.Context(), request())
		require.ErrorIs(t, err, llm.ErrKeyAccessible)
		requireNothingPlanted(t, err)
		assert.Equal(t, llmtest.Totals{Requests: 2, Rejected: 1}, llmtest.Totals{
			Requests: server.Totals().Requests, Rejected: server.Totals().Rejected,
		})
	})
}

// TestRequestReachesModel shows that the model receives all request parts, and the output comes back as it is.
func TestRequestReachesModel(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api llmtest.API) {
		received := make(chan llmtest.Request, 1)
		server := start(t, llmtest.Config{API: api, Model: "m", Script: func(r llmtest.Request) string {
			received <- r
			return offer
		}})
		model := connect(t, api, server, serverKey())
		sent := request()
		response, err := model.Respond(t.Context(), sent)
		require.NoError(t, err, server.Rejection())
		assert.Equal(t, offer, string(response.JSON))
		got := <-received
		assert.Equal(t, sent.Instructions, got.Instructions)
		assert.Equal(t, sent.Input, got.Input)
		assert.Equal(t, sent.MaxTokens, got.MaxTokens)
		assert.Equal(t, 1, got.Number)
		assert.Equal(t, "m", got.Model)
		assert.JSONEq(t, schema, string(got.Schema))
		// Models write properties in the schema's order: the reason comes before the move.
		assert.Contains(t, string(got.Schema), `"properties":{"reason":{"type":"string"},"move":`)
		if api != llmtest.Messages {
			assert.Equal(t, sent.SchemaName, got.SchemaName)
		}
		assert.NotContains(t, fmt.Sprintf("%v %+v %#v", model, model, model), plantedKey)
	})
}

// TestUntrustedCertificateEndsRequest shows that no request is sent to a server with an unknown certificate.
func TestUntrustedCertificateEndsRequest(t *testing.T) {
	t.Parallel()
	for _, api := range []llmtest.API{llmtest.AzureResponses, llmtest.AzureChatCompletions} {
		server := start(t, llmtest.Config{API: api})
		_, err := connectWith(t, api, server, serverKey(), nil).Respond(t.Context(), request())
		failure, is := errors.AsType[*llm.ResponseError](err)
		require.True(t, is, "%v", err)
		require.ErrorContains(t, failure, "TLS certificate not trusted")
		requireNothingPlanted(t, err)
		assert.Zero(t, server.Totals().Requests+server.Totals().Rejected)
	}
}
