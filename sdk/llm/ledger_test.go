package llm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// asking needs up to 1,134 tokens: 10 bytes, the overhead, and 100 output tokens.
var asking = &Request{Instructions: "12345", Input: "12345", MaxTokens: 100}

var mini = map[string]Price{"mini": {Input: 2_000_000, CachedInput: 500_000, Output: 8_000_000}}

func (l *ledger) mustReserve(t *testing.T, negotiation string) *reservation {
	t.Helper()
	r, err := l.reserve(negotiation, "mini", asking)
	require.NoError(t, err)
	return r
}

func TestWorstCaseIsReservedAndSettledByTheUsage(t *testing.T) {
	l := newLedger(Budget{Tokens: 3_100, Cost: 10_000, Prices: mini})
	first := l.mustReserve(t, "a")
	require.EqualValues(t, 1_134, first.used.tokens)
	require.EqualValues(t, 1_034*2+100*8, first.used.cost.microDollars())
	second := l.mustReserve(t, "b")
	_, err := l.reserve("c", "mini", asking)
	require.ErrorIs(t, err, ErrBudget, "reserved amounts count")
	first.settle(Usage{InputTokens: 700, CachedInputTokens: 200, OutputTokens: 34, Known: true}, false)
	third := l.mustReserve(t, "c")
	second.settle(Usage{}, false)
	third.settle(Usage{}, true)
	require.Equal(t, []Spending{
		{Model: "mini", Negotiation: "a", Requests: 1, InputTokens: 700, CachedInputTokens: 200, OutputTokens: 34,
			Cost: 500*2 + 200/2 + 34*8},
		{Model: "mini", Negotiation: "b", Requests: 1, AssumedTokens: 1_134, AssumedCost: 2_868},
		{Model: "mini", Negotiation: "c", Requests: 1},
	}, l.spending())
	require.EqualValues(t, 734+1_134, l.total.tokens)
}

func TestEachLimitIsHard(t *testing.T) {
	for name, test := range map[string]struct {
		budget Budget
		fit    map[string]int
	}{
		"tokens":       {Budget{Tokens: 3*1_134 - 1}, map[string]int{"a": 2}},
		"exact tokens": {Budget{Tokens: 3 * 1_134}, map[string]int{"a": 3}},
		"cost":         {Budget{Cost: 3*2_868 - 1, Prices: mini}, map[string]int{"a": 2}},
		"exact cost":   {Budget{Cost: 3 * 2_868, Prices: mini}, map[string]int{"a": 3}},
		"tokens per negotiation": {Budget{Tokens: 5 * 1_134, NegotiationTokens: 2 * 1_134},
			map[string]int{"a": 2, "b": 2, "c": 1}},
		"cost per negotiation": {Budget{Cost: 5 * 2_868, NegotiationCost: 2 * 2_868, Prices: mini},
			map[string]int{"a": 2, "b": 2, "c": 1}},
	} {
		l := newLedger(test.budget)
		for _, negotiation := range []string{"a", "b", "c"} {
			fit := 0
			for range 10 {
				if r, err := l.reserve(negotiation, "mini", asking); err == nil {
					r.settle(Usage{}, false)
					fit++
				}
			}
			require.Equal(t, test.fit[negotiation], fit, "%s, %s", name, negotiation)
		}
	}
}

// TestBudgetHoldsUnderConcurrency reserves and settles at random in many goroutines. The sum of settled and
// reserved amounts never exceeds a limit.
func TestBudgetHoldsUnderConcurrency(t *testing.T) {
	budget := Budget{
		Tokens: 200_000, Cost: 400_000, NegotiationTokens: 30_000, NegotiationCost: 50_000, Prices: mini,
	}
	l := newLedger(budget)
	var all sync.WaitGroup
	for worker := range 16 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(worker), 1))
			for range 500 {
				negotiation := fmt.Sprint(random.IntN(12))
				r, err := l.reserve(negotiation, "mini", asking)
				l.lock.Lock()
				if l.total.tokens > budget.Tokens || l.total.cost > limit(budget.Cost) {
					t.Error("over the budget")
				}
				if a := l.negotiations[negotiation]; a != nil &&
					(a.tokens > budget.NegotiationTokens || a.cost > limit(budget.NegotiationCost)) {
					t.Error("over the negotiation's budget")
				}
				l.lock.Unlock()
				if err != nil {
					continue
				}
				input := random.Int64N(1_034)
				r.settle(Usage{InputTokens: input, CachedInputTokens: random.Int64N(input + 1),
					OutputTokens: random.Int64N(100), Known: random.IntN(4) > 0}, random.IntN(10) == 0)
			}
		})
	}
	all.Wait()
	var sum used
	for _, s := range l.spending() {
		sum.tokens += s.InputTokens + s.OutputTokens + s.AssumedTokens
	}
	require.Equal(t, l.total.tokens, sum.tokens)
	require.Greater(t, sum.tokens, budget.Tokens/2)
	for _, a := range l.negotiations {
		require.Zero(t, a.open)
	}
}

func TestImplausibleUsageCountsAsTheWorstCase(t *testing.T) {
	for _, usage := range []Usage{
		{}, {InputTokens: -1, Known: true}, {OutputTokens: math.MaxInt64, Known: true},
		{InputTokens: 1, CachedInputTokens: 2, Known: true}, {InputTokens: 5, OutputTokens: 5},
	} {
		l := newLedger(Budget{Tokens: 10_000})
		l.mustReserve(t, "a").settle(usage, false)
		require.EqualValues(t, 1_134, l.total.tokens, usage)
	}
}

// TestOverrunEndsTheBudget reports a usage beyond the worst case: it counts, and further requests are
// refused.
func TestOverrunEndsTheBudget(t *testing.T) {
	l := newLedger(Budget{Tokens: 10_000})
	l.mustReserve(t, "a").settle(Usage{InputTokens: 50_000, OutputTokens: 1, Known: true}, false)
	_, err := l.reserve("b", "mini", asking)
	require.ErrorIs(t, err, ErrBudget)
}

func TestCostsAreExactAndDoNotWrapAround(t *testing.T) {
	price := Price{Input: 150_000, Output: 600_000}
	var sum cost
	for range 1_000_000 {
		sum = sum.sum(price.of(Usage{InputTokens: 1, Known: true}))
	}
	require.EqualValues(t, 150_000, sum.microDollars(), "a million tokens cost the price")
	require.EqualValues(t, 1, price.of(Usage{InputTokens: 1, Known: true}).microDollars(), "rounded up")
	require.Equal(t, cost(math.MaxUint64), cost(0).add(maxCount, maxPrice))
	require.Equal(t, cost(math.MaxUint64), cost(math.MaxUint64-1).sum(2))
	require.Equal(t, cost(10*7+3*2), Price{Input: 5, CachedInput: 7, Output: 2}.most(10, 3), "the dearer input")
	require.Equal(t, "$1.000250", MicroDollars(1_000_250).String())
	require.Equal(t, "-$0.000001", MicroDollars(-1).String())
	require.Equal(t, "-$9223372036854.775808", MicroDollars(math.MinInt64).String())
}

// TestOldNegotiationsAreAddedUp exceeds the number of negotiations that the ledger keeps after two days.
func TestOldNegotiationsAreAddedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(Budget{Tokens: 1 << 40})
		for at := range remembered {
			l.mustReserve(t, fmt.Sprint(at)).settle(Usage{InputTokens: 1, Known: true}, false)
		}
		open := l.mustReserve(t, "open")
		time.Sleep(forgotten)
		l.mustReserve(t, "new").settle(Usage{InputTokens: 1, Known: true}, false)
		require.Len(t, l.negotiations, 2)
		require.EqualValues(t, remembered, l.spending()[0].InputTokens)
		require.Empty(t, l.spending()[0].Negotiation)
		open.settle(Usage{InputTokens: 5, Known: true}, false)
		require.EqualValues(t, remembered+6, l.total.tokens)
	})
}

func TestBudgetsWithoutALimitAreErrors(t *testing.T) {
	for text, budget := range map[string]Budget{
		"Budget not set":                 {},
		"Budget not set: limit":          {NegotiationTokens: 5, NegotiationCost: 5},
		"must not be negative":           {Tokens: -1},
		"needs a price for model mini":   {Cost: 1},
		"price of model mini must":       {Tokens: 1, Prices: map[string]Price{"mini": {Output: -1}}},
		"price of model mini must be":    {Tokens: 1, Prices: map[string]Price{"mini": {Input: maxPrice + 1}}},
		"must be at most $1000000.00000": {Cost: maxPrice + 1},
	} {
		require.ErrorContains(t, budget.check([]Model{named("mini")}), text)
	}
	require.NoError(t, Budget{Tokens: 1}.check([]Model{named("mini")}))
	require.NoError(t, Budget{Cost: 1, Prices: mini}.check([]Model{named("mini")}))
}

// named is a model that always fails.
type named string

func (n named) Name() string { return string(n) }

func (named) Respond(context.Context, Request) (*Response, error) { return nil, ErrBudget }

// TestDailyBudgetBeginsAgainAtMidnight spends a budget of two requests on each of two days. A request over midnight
// counts on the second one.
func TestDailyBudgetBeginsAgainAtMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(Budget{Tokens: 2 * 1_134, Daily: true})
		time.Sleep(23 * time.Hour) // the day begins at midnight
		used := Usage{InputTokens: 1_034, OutputTokens: 100, Known: true}
		l.mustReserve(t, "a").settle(used, false)
		over := l.mustReserve(t, "b")
		_, err := l.reserve("c", "mini", asking)
		require.ErrorIs(t, err, ErrBudget)

		time.Sleep(time.Hour - time.Nanosecond)
		_, err = l.reserve("c", "mini", asking)
		require.ErrorIs(t, err, ErrBudget)
		time.Sleep(time.Nanosecond)
		l.mustReserve(t, "c").settle(used, false)
		_, err = l.reserve("c", "mini", asking)
		require.ErrorIs(t, err, ErrBudget, "one of this day, and one that has not ended")
		over.settle(Usage{}, true)
		l.mustReserve(t, "d")
		require.EqualValues(t, 2*1_134, l.total.tokens)
	})
}

func TestBudgetOfAllTimeDoesNotBeginAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(Budget{Tokens: 1_134})
		l.mustReserve(t, "a").settle(Usage{}, false)
		time.Sleep(48 * time.Hour)
		_, err := l.reserve("b", "mini", asking)
		require.ErrorIs(t, err, ErrBudget)
	})
}

// TestChargeCountsForTheDay charges what an earlier process used. The next day begins with the whole budget.
func TestChargeCountsForTheDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(Budget{Tokens: 2 * 1_134, Cost: 1_000_000, Daily: true})
		l.charge(1_135, 0)
		_, err := l.reserve("n", "m", &Request{MaxTokens: 1_134})
		require.ErrorIs(t, err, ErrBudget)
		time.Sleep(24 * time.Hour)
		l.charge(0, 1_000_001)
		_, err = l.reserve("n", "m", &Request{MaxTokens: 1})
		require.ErrorIs(t, err, ErrBudget, "the cost is used up")
		time.Sleep(24 * time.Hour)
		_, err = l.reserve("n", "m", &Request{MaxTokens: 1_134})
		require.NoError(t, err)
	})
}
