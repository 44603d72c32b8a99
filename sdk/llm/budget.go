package llm

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// MicroDollars is an amount of money, in millionths of a US dollar.
type MicroDollars int64

// String returns the amount in dollars, such as "$0.001250".
func (m MicroDollars) String() string {
	sign, amount := "", uint64(m)
	if m < 0 {
		sign, amount = "-", -amount
	}
	return fmt.Sprintf("%s$%d.%06d", sign, amount/1_000_000, amount%1_000_000)
}

// Price states a model's price, in micro-dollars per million tokens.
type Price struct {
	Input, Output MicroDollars
	// CachedInput applies to input read from the API's cache. If zero, Input is used.
	CachedInput MicroDollars
}

// maxPrice bounds prices, in micro-dollars per million tokens, and cost limits: sums then fit 64 bits.
// maxTokens bounds token limits.
const (
	maxPrice  = 1_000_000_000_000
	maxTokens = 1 << 50
)

// cost counts millionths of a micro-dollar: tokens times price. It saturates.
type cost uint64

func (c cost) add(tokens int64, price MicroDollars) cost {
	high, product := bits.Mul64(uint64(tokens), uint64(price))
	sum, carry := bits.Add64(uint64(c), product, 0)
	if high != 0 || carry != 0 {
		return math.MaxUint64
	}
	return cost(sum)
}

func (c cost) sum(other cost) cost {
	sum, carry := bits.Add64(uint64(c), uint64(other), 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return cost(sum)
}

// microDollars returns the cost, rounded up.
func (c cost) microDollars() MicroDollars {
	return MicroDollars(c/1_000_000 + min(c%1_000_000, 1))
}

// limit returns the cost of a limit.
func limit(m MicroDollars) cost { return cost(0).add(1_000_000, m) }

// of returns the cost of a usage.
func (p Price) of(usage Usage) cost {
	cached := p.CachedInput
	if cached == 0 {
		cached = p.Input
	}
	return cost(0).add(usage.InputTokens-usage.CachedInputTokens, p.Input).add(usage.CachedInputTokens, cached).
		add(usage.OutputTokens, p.Output)
}

// most returns the highest cost of a number of input and output tokens.
func (p Price) most(input, output int64) cost {
	return cost(0).add(input, max(p.Input, p.CachedInput)).add(output, p.Output)
}

// Budget limits tokens and cost. The worst case of each request is reserved before sending, so concurrent
// negotiations never exceed a limit. Input and output tokens count alike.
//
// Without a reported usage the reserved amount counts, except for requests rejected with an HTTP status from
// 400 to 499, which count nothing. The counts belong to one [Chooser]: a restarted process begins with the whole
// budget, reduced by [Chooser.Charge].
type Budget struct {
	// Tokens and Cost limit all negotiations together. Zero sets no limit; at least one of them is required.
	Tokens int64
	Cost   MicroDollars
	// Daily makes both limit each day in UTC, for a process that runs for a long time. A request counts on the day
	// of its end. Reservations of unfinished requests count on the new day, too.
	Daily bool
	// NegotiationTokens and NegotiationCost limit each negotiation. Zero sets no limit.
	NegotiationTokens int64
	NegotiationCost   MicroDollars
	// Prices maps model names to prices. Limits on cost require a price for every model.
	Prices map[string]Price
}

// ErrBudget reports that a request could exceed the budget and was not sent.
var ErrBudget = errors.New("llm: budget used up")

func (b Budget) check(models []Model) error {
	switch {
	case b.Tokens < 0 || b.Cost < 0 || b.NegotiationTokens < 0 || b.NegotiationCost < 0:
		return errors.New("llm: Budget must not be negative")
	case b.Tokens == 0 && b.Cost == 0:
		return errors.New("llm: Budget not set: limit Tokens or Cost")
	case max(b.Cost, b.NegotiationCost) > maxPrice || max(b.Tokens, b.NegotiationTokens) > maxTokens:
		return fmt.Errorf("llm: Budget must be at most %s and 2^50 tokens", MicroDollars(maxPrice))
	}
	for name, price := range b.Prices {
		if least, most := min(price.Input, price.Output, price.CachedInput), max(price.Input, price.Output,
			price.CachedInput); least < 0 || most > maxPrice {
			return fmt.Errorf("llm: Budget: price of model %s must be from 0 to %s", name, MicroDollars(maxPrice))
		}
	}
	if b.Cost == 0 && b.NegotiationCost == 0 {
		return nil
	}
	for _, model := range models {
		if _, priced := b.Prices[model.Name()]; !priced {
			return fmt.Errorf("llm: Budget: a limit on the cost needs a price for model %s", model.Name())
		}
	}
	return nil
}

// overhead bounds the input tokens that an API adds to a request's texts, for roles and schemas.
const overhead = 1_024

// mostInput returns an upper bound of input tokens: every token covers at least one byte.
func (r *Request) mostInput() int64 {
	return int64(len(r.Instructions)+len(r.Input)+len(r.SchemaName)+len(r.Schema)) + overhead
}

// maxCount bounds plausible token counts.
const maxCount = 1 << 40

// isPlausible reports whether a usage is known and possible for a single response.
func (u Usage) isPlausible() bool {
	return u.Known && u.InputTokens >= 0 && u.OutputTokens >= 0 && u.CachedInputTokens >= 0 &&
		u.CachedInputTokens <= u.InputTokens && u.InputTokens <= maxCount && u.OutputTokens <= maxCount
}
