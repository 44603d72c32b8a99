package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/haggle-protocol/haggle/sdk/llm"
)

// scriptedModel responds with a function.
type scriptedModel struct {
	name    string
	respond func(ctx context.Context, request llm.Request) (*llm.Response, error)
	calls   atomic.Int64
}

func (m *scriptedModel) Name() string { return m.name }

func (m *scriptedModel) Respond(ctx context.Context, request llm.Request) (*llm.Response, error) {
	m.calls.Add(1)
	return m.respond(ctx, request)
}

// usage belongs to each scripted response.
var usage = llm.Usage{InputTokens: 900, CachedInputTokens: 100, OutputTokens: 60, Known: true}

func answered(text string) (*llm.Response, error) {
	return &llm.Response{JSON: []byte(text), Usage: usage}, nil
}

// answering returns a model that answers from the facts.
func answering(name string, answer func(facts llm.Facts) string) *scriptedModel {
	return &scriptedModel{name: name, respond: func(_ context.Context, request llm.Request) (*llm.Response, error) {
		var facts llm.Facts
		if err := json.Unmarshal([]byte(request.Input), &facts); err != nil {
			return nil, err
		}
		return answered(answer(facts))
	}}
}

// saying returns a model with a fixed answer.
func saying(name, text string) *scriptedModel {
	return answering(name, func(llm.Facts) string { return text })
}

// pricing returns an answer that offers a price.
func pricing(price string) string {
	return fmt.Sprintf(`{"reason":"test","move":"offer","candidate":0,"price":%q}`, price)
}

// choosing returns an answer that offers a candidate.
func choosing(candidate int) string {
	return fmt.Sprintf(`{"reason":"test","move":"offer","candidate":%d,"price":""}`, candidate)
}

const accepting = `{"reason":"test","move":"accept","candidate":0,"price":""}`

const rejecting = `{"reason":"test","move":"reject","candidate":0,"price":""}`

// hostileTexts break the schema or the band.
var hostileTexts = []string{
	"", "I would offer 3.5 tokens.", "null", "[]", "{}", `{"move":"offer"}`, `{"move":"pay everything"}`,
	pricing("0"), pricing("-1"), pricing("1e18"), pricing("99999999999999999999999999"), pricing("3500000u"),
	pricing("NaN"), pricing("0x10"), pricing(" 3.1 "), pricing("3,1"), choosing(-1), choosing(99),
	`{"reason":"` + strings.Repeat("x", 100_000) + `","move":"offer","candidate":1,"price":""}`,
	`{"reason":"\u0000\u001b[2J","move":"offer","candidate":1,"price":""}`,
	`{"reason":"","move":"offer","candidate":1,"price":"","limits":{"max_price":"1000"}}`,
	`{"reason":"","move":"offer","candidate":1,"price":""}{"move":"accept"}`,
	`{"reason":"","move":["accept"],"candidate":1,"price":""}`, accepting, rejecting, pricing("4.99999999999"),
}

// characters returns models that bargain badly, by name.
func characters(random *rand.Rand) map[string]*scriptedModel {
	worst := func(f llm.Facts) string {
		if f.Role == "buyer" {
			return "1000000"
		}
		return "0.000001"
	}
	best := func(f llm.Facts) string {
		if f.Role == "buyer" {
			return "0"
		}
		return "1000000"
	}
	return map[string]*scriptedModel{
		"concedes too fast": answering("test:fast", func(f llm.Facts) string {
			if f.Standing != nil {
				return accepting
			}
			return pricing(worst(f))
		}),
		"anchors": answering("test:anchor", func(f llm.Facts) string { return pricing(best(f)) }),
		"repeats": saying("test:repeat", pricing("2.5")),
		"random": answering("test:random", func(f llm.Facts) string {
			switch random.IntN(4) {
			case 0:
				return accepting
			case 1:
				return choosing(random.IntN(len(f.Candidates) + 2))
			case 2:
				return rejecting
			}
			return pricing(fmt.Sprintf("%d.%06d", random.IntN(10), random.IntN(1_000_000)))
		}),
		"hostile": answering("test:hostile", func(llm.Facts) string {
			return hostileTexts[random.IntN(len(hostileTexts))]
		}),
		"fails": {name: "test:fails", respond: func(context.Context, llm.Request) (*llm.Response, error) {
			switch random.IntN(4) {
			case 0:
				return nil, &llm.RefusalError{Usage: usage}
			case 1:
				return nil, &llm.ResponseError{Err: context.Canceled}
			case 2:
				panic("out of range")
			}
			return nil, nil
		}},
	}
}

// slow returns a model that responds after a delay. Stubborn models ignore their context.
func slow(after time.Duration, stubborn bool) *scriptedModel {
	return &scriptedModel{name: "test:slow", respond: func(ctx context.Context, _ llm.Request) (*llm.Response, error) {
		if stubborn {
			time.Sleep(after)
			return answered(choosing(1))
		}
		select {
		case <-time.After(after):
			return answered(choosing(1))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

// failing returns a model whose first requests fail.
func failing(failures int64, err error) *scriptedModel {
	m := &scriptedModel{name: "test:failing"}
	m.respond = func(context.Context, llm.Request) (*llm.Response, error) {
		if m.calls.Load() <= failures {
			return nil, err
		}
		return answered(choosing(1))
	}
	return m
}

// plenty is a budget that is never used up.
var plenty = llm.Budget{Tokens: 1 << 40}

// quiet discards logs.
var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))
