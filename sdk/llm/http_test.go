package llm_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/anthropic"
	"github.com/haggle-protocol/haggle/sdk/llm/llmtest"
	"github.com/haggle-protocol/haggle/sdk/llm/openai"
)

// connect returns the model of a server.
func connect(t *testing.T, api llmtest.API, server *llmtest.Server) llm.Model {
	t.Helper()
	key := llm.KeyFrom("test", func() (string, error) { return server.Key(), nil })
	var model llm.Model
	var err error
	switch api {
	case llmtest.Messages:
		model, err = anthropic.New(anthropic.Config{Model: "m", Key: key, BaseURL: server.URL()})
	case llmtest.AzureResponses, llmtest.AzureChatCompletions:
		config := openai.Config{Model: "m", Key: key, HTTPClient: server.HTTPClient(),
			Azure: openai.Azure{Endpoint: server.URL(), APIVersion: llmtest.APIVersion}}
		if api == llmtest.AzureChatCompletions {
			config.API = openai.ChatCompletions
		}
		model, err = openai.New(config)
	case llmtest.ChatCompletions:
		model, err = openai.New(openai.Config{Model: "m", Key: key, BaseURL: server.URL(), API: openai.ChatCompletions})
	default:
		model, err = openai.New(openai.Config{Model: "m", Key: key, BaseURL: server.URL()})
	}
	require.NoError(t, err)
	return model
}

// TestModelsBehindFaultyServers plays random turns with models at servers of every API, whose responses are
// random or hostile, and most of which fail. Decisions stay within band and limits, counts equal those of the
// server, and no record contains the key.
func TestModelsBehindFaultyServers(t *testing.T) {
	t.Parallel()
	for _, api := range []llmtest.API{
		llmtest.Responses, llmtest.ChatCompletions, llmtest.AzureResponses, llmtest.AzureChatCompletions,
		llmtest.Messages,
	} {
		t.Run(api.String(), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(api), 5))
			var lock sync.Mutex
			config := llmtest.Config{API: api, Key: planted, Seed: uint64(api), Script: func(llmtest.Request) string {
				lock.Lock()
				defer lock.Unlock()
				if random.IntN(3) == 0 {
					return hostileTexts[random.IntN(len(hostileTexts))]
				}
				return []string{accepting, choosing(1), choosing(2), pricing("1.5")}[random.IntN(4)]
			}}
			for _, fault := range llmtest.Faults() {
				if name := fault.String(); name == llmtest.Hang().String() || name == llmtest.Stall().String() {
					continue // they would need timeouts in real time
				}
				config.Random = append(config.Random, llmtest.Chance{Fault: fault, Probability: 0.03})
			}
			server, err := llmtest.Start(config)
			require.NoError(t, err)
			defer server.Close()
			model := connect(t, api, server)
			turns := rand.New(rand.NewPCG(uint64(api), 6))
			asked, decided := 0, 0
			var counted llm.Spending
			for asked < 80 {
				turn := randomTurn(turns)
				var record llm.Record
				options := llm.Options{
					Strategy: strategy.Linear(), Name: "linear", Logger: quiet, MayWalkAway: true, Attempts: 1,
					CallTimeout: time.Minute, Decided: func(r llm.Record) error { record = r; return nil },
				}
				player := newPlayer(t, model, options)
				decision, err := player.Decide(t.Context(), turn)
				require.NoError(t, err)
				checkDecision(t, turn, decision, options, record)
				text, err := json.Marshal(record)
				require.NoError(t, err)
				require.NotContains(t, string(text), planted)
				asked += len(record.Answers)
				if len(record.Answers) > 0 && record.Fallback == "" {
					decided++
				}
				for _, s := range player.Spending() {
					counted.InputTokens += s.InputTokens
					counted.CachedInputTokens += s.CachedInputTokens
					counted.OutputTokens += s.OutputTokens
				}
			}
			reported := server.Totals().Reported
			require.Equal(t, llmtest.Usage{
				Input: counted.InputTokens, Cached: counted.CachedInputTokens, Output: counted.OutputTokens,
			}, reported)
			require.Positive(t, reported.Output)
			require.Greater(t, decided, 5)
			require.Less(t, decided, 75)
			require.False(t, strings.Contains(server.Rejection(), "schema"), server.Rejection())
		})
	}
}

// TestRejectedRequestsCostNothing has a wrong key: the budget stays whole until the key is right.
func TestRejectedRequestsCostNothing(t *testing.T) {
	t.Parallel()
	server, err := llmtest.Start(llmtest.Config{Script: func(llmtest.Request) string { return pricing("3") }})
	require.NoError(t, err)
	defer server.Close()
	key := "wrong"
	model, err := openai.New(openai.Config{
		Model: "m", BaseURL: server.URL(), Key: llm.KeyFrom("test", func() (string, error) { return key, nil }),
	})
	require.NoError(t, err)
	var record llm.Record
	player := newPlayer(t, model, llm.Options{
		Opening: buyerOpening, Logger: quiet, Decided: func(r llm.Record) error { record = r; return nil },
	})
	_, err = player.Decide(t.Context(), bargained())
	require.NoError(t, err)
	require.Equal(t, llm.FailureResponse, record.Answers[0].Failure)
	require.Equal(t, llm.RequestUsage{Requests: 1}, record.Usage)
	key = server.Key()
	_, err = player.Decide(t.Context(), bargained())
	require.NoError(t, err)
	require.Equal(t, "3", record.Move.Offer.Price)
	require.Positive(t, record.Usage.InputTokens)
}
