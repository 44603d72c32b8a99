package llm_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

// TestConcurrentNegotiationsStayWithinTheBudget runs 200 negotiations at once against a model that counts its
// tokens. The strategy plays alone once the budget is used up.
func TestConcurrentNegotiationsStayWithinTheBudget(t *testing.T) {
	price := llm.Price{Input: 1_000_000, Output: 10_000_000}
	var input, output atomic.Int64
	model := &scriptedModel{name: "test:counting"}
	model.respond = func(_ context.Context, request llm.Request) (*llm.Response, error) {
		// The worst case: a token for each byte.
		used := llm.Usage{
			InputTokens:  int64(len(request.Instructions) + len(request.Input) + len(request.Schema)),
			OutputTokens: int64(request.MaxTokens), Known: true,
		}
		input.Add(used.InputTokens)
		output.Add(used.OutputTokens)
		return &llm.Response{JSON: []byte(pricing("3")), Usage: used}, nil
	}
	var lock sync.Mutex
	fallbacks := map[llm.Failure]int{}
	player := newPlayer(t, model, llm.Options{
		Opening: buyerOpening, MaxTokens: 500, Logger: quiet, Concurrency: 64,
		Budget: llm.Budget{
			Cost: 500_000, NegotiationCost: 30_000, Tokens: 1 << 30, Prices: map[string]llm.Price{"test:counting": price},
		},
		Decided: func(r llm.Record) error {
			lock.Lock()
			defer lock.Unlock()
			fallbacks[r.Answers[0].Failure]++
			return nil
		},
	})
	var all sync.WaitGroup
	for at := range 200 {
		all.Go(func() {
			turn := bargained()
			turn.Negotiation.CreatedAt += int64(at)
			for turn.Limits.MaxTotal > 3_999_995 { // a new position each time
				decision, err := player.Decide(t.Context(), turn)
				if err != nil {
					t.Error(err)
				}
				if _, offers := decision.(agent.Offer); !offers {
					t.Errorf("%T", decision)
				}
				turn.Limits.MaxTotal--
			}
		})
	}
	all.Wait()
	var cost llm.MicroDollars
	var tokens int64
	for _, s := range player.Spending() {
		require.LessOrEqual(t, s.Cost, llm.MicroDollars(30_000), s.Negotiation)
		cost, tokens = cost+s.Cost, tokens+s.InputTokens+s.OutputTokens
		require.Zero(t, s.AssumedTokens)
	}
	require.Equal(t, input.Load()+output.Load(), tokens, "the counts are those of the model")
	require.Equal(t, llm.MicroDollars(input.Load()+10*output.Load()), cost)
	require.LessOrEqual(t, cost, llm.MicroDollars(500_000))
	require.Greater(t, cost, llm.MicroDollars(450_000))
	require.Equal(t, 1_000, fallbacks[""]+fallbacks[llm.FailureBudget])
	require.EqualValues(t, fallbacks[""], model.calls.Load())
}

// TestRecordHasTheCostOfItsRequests asks two models with different prices.
func TestRecordHasTheCostOfItsRequests(t *testing.T) {
	options := llm.Options{
		Ensemble: []llm.Model{saying("test:b", pricing("3"))},
		Budget: llm.Budget{Tokens: 1 << 30, Prices: map[string]llm.Price{
			"test:a": {Input: 1_000_000, CachedInput: 100_000, Output: 2_000_000}, "test:b": {Input: 5_000_000},
		}},
	}
	record, _ := decide(t, t.Context(), saying("test:a", pricing("3")), bargained(), options)
	require.Equal(t, llm.RequestUsage{
		Requests: 2, InputTokens: 1_800, CachedInputTokens: 200, OutputTokens: 120, Cost: 800 + 10 + 120 + 4_500,
	}, record.Usage)
	require.EqualValues(t, 930, record.Answers[0].Usage.Cost)
	require.EqualValues(t, 4_500, record.Answers[1].Usage.Cost)
}
