package languagemodel_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/languagemodel"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/model"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
	"github.com/haggle-protocol/haggle/sdk/llm/llmtest"
)

func serving(t *testing.T, arguments ...string) (*model.Models, error) {
	t.Helper()
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AZURE_OPENAI_API_KEY"} {
		t.Setenv(name, "")
	}
	var s languagemodel.Serving
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	s.Register(flags)
	require.NoError(t, flags.Parse(arguments))
	return s.Models(model.Config{}, flags.Changed)
}

const recordedDocument = "testdata/document.jsonl"

// TestDocumentsNegotiationWithARecordedModel plays the worked example of the requirements: 1,500 is offered, the
// recorded model counters 1,900 with a friendly text, and 1,800 is accepted. HAGGLE_WRITE_RESPONSES=1 records the
// response again, after a change of the prompt.
func TestDocumentsNegotiationWithARecordedModel(t *testing.T) {
	arguments := []string{"--llm", "openai:gpt-4", "--llm-tokens", "100000", "--llm-answers", recordedDocument}
	if os.Getenv("HAGGLE_WRITE_RESPONSES") != "" {
		server, err := llmtest.Start(llmtest.Config{API: llmtest.Responses, Script: func(llmtest.Request) string {
			return `{"reason":"Your proposal is reasonable but below our preferred rate. We're willing to match your TTL and ` +
				`RPS, but need $0.0019 to cover content costs.","move":"offer","candidate":0,"price":"0.0019"}`
		}})
		require.NoError(t, err)
		defer server.Close()
		key := filepath.Join(t.TempDir(), "key")
		require.NoError(t, os.WriteFile(key, []byte(server.Key()), 0o600))
		require.NoError(t, os.RemoveAll(recordedDocument))
		arguments = append(arguments, "--llm-url", server.URL(), "--llm-key", key)
	}
	models, err := serving(t, arguments...)
	require.NoError(t, err)
	s, err := engine.ParseStrategy([]byte(`{"negotiation_style": "balanced", "min_price_per_fetch_micro": 1000,
		"preferred_price_per_fetch_micro": 2000, "max_price_per_fetch_micro": 5000, "auto_accept_threshold": 0.90,
		"deal_breakers": [{"field": "price_per_fetch_micro", "operator": "<", "value": 500}],
		"llm_provider": "openai", "llm_model": "gpt-4",
		"system_prompt": "You are negotiating on behalf of Publisher A.\nYour goal: achieve fair compensation while building relationships."}`))
	require.NoError(t, err)
	require.NoError(t, models.Check(&s))
	proposal := func(price uint64) terms.Terms {
		return terms.Terms{Price: price, TTLSeconds: 600, BurstRPS: 10, Purposes: []terms.Purpose{terms.Inference}}
	}
	q := model.Question{
		Negotiation: "n-1", Strategy: &s, Proposal: proposal(1500), ClientName: "OpenAI",
		Deadline: time.Now().Add(time.Hour),
	}
	first, err := models.Answer(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, engine.Counter, first.Decision.Action)
	require.Empty(t, first.Report.Fallback)
	require.Equal(t, proposal(1900), *first.Decision.Terms)
	require.Contains(t, first.Report.Text, "need $0.0019 to cover content costs")
	require.Positive(t, first.Report.Tokens)
	require.Equal(t, []engine.ReasonCode{engine.CodePrice}, first.Decision.Answer().Codes)

	q.State, q.Proposal = q.State.Next(q.Proposal, first.Decision), proposal(1800)
	second, err := models.Answer(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, engine.Accept, second.Decision.Action)
	require.Equal(t, "0.92", second.Decision.Analysis.Score.Total.String())
	require.Nil(t, second.Report)
}

func TestServingNeedsKeysAndABudget(t *testing.T) {
	models, err := serving(t)
	require.NoError(t, err)
	require.Nil(t, models)
	recording := []string{"--llm", "openai:gpt-4", "--llm-answers", recordedDocument}
	for text, arguments := range map[string][]string{
		"--llm-tokens: requires --llm":                                       {"--llm-tokens", "5"},
		"--llm-concurrency: requires --llm":                                  {"--llm-concurrency", "5"},
		"--llm-concurrency must be at least 1":                               append(recording, "--llm-concurrency", "0"),
		"--llm: requires --llm-tokens or --llm-cost":                         recording,
		"--llm-cost: requires --llm-price openai:gpt-4=INPUT,OUTPUT":         append(recording, "--llm-cost", "5"),
		`--llm: "gpt-4" is none of openai:MODEL`:                             {"--llm", "gpt-4", "--llm-tokens", "5"},
		"environment variable OPENAI_API_KEY: key is empty or not set":       {"--llm", "openai:gpt-4", "--llm-tokens", "5"},
		"environment variable ANTHROPIC_API_KEY: key is empty or not set":    {"--llm", "anthropic:c", "--llm-tokens", "5"},
		`--llm: name "openai:gpt-4" is not a new one of the form provider:m`: append(recording, "--llm", "openai:gpt-4", "--llm-tokens", "5"),
	} {
		_, err := serving(t, arguments...)
		require.ErrorContains(t, err, text)
	}
	_, err = serving(t, append(recording, "--llm-cost", "5", "--llm-price", "openai:gpt-4=30,60")...)
	require.NoError(t, err)
}
