package llm

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Record documents a decision for audits. It contains no key and no prompt. Only Answer.Reason contains model
// output.
type Record struct {
	// Negotiation identifies the negotiation, on chain by address and creation time.
	Negotiation string `json:"negotiation"`
	// Question is "turn", "invitation" or "message".
	Question string `json:"question"`
	// Role is "buyer", "seller", or [Position].Role.
	Role string `json:"role"`
	// Round counts the offers so far, of at most Rounds. Both are 0 for invitations.
	Round  int `json:"round"`
	Rounds int `json:"rounds"`
	// Strategy is [Options].Name, empty for invitations.
	Strategy string `json:"strategy,omitempty"`
	// Facts are sent to the models: see [Facts] for turns. They are empty without a band.
	Facts json.RawMessage `json:"facts,omitempty"`
	// StrategyMove is the strategy's own move, nil for invitations.
	StrategyMove *Move `json:"strategy_move,omitempty"`
	// Answers is empty if no model was asked.
	Answers []Answer `json:"answers"`
	// Cached reports whether Answers come from an earlier turn at this position.
	Cached bool `json:"cached"`
	// Move is the decision.
	Move Move `json:"move"`
	// Correction tells how a model's offer was moved into the band.
	Correction string `json:"correction,omitempty"`
	// Fallback tells why the strategy decided, or for invitations the owner's default. It is empty for decisions
	// by a model.
	Fallback string `json:"fallback,omitempty"`
	// Usage counts all requests of the decision, unfinished ones with their worst case.
	Usage RequestUsage `json:"usage"`
	// Duration is in nanoseconds.
	Duration time.Duration `json:"duration_ns"`
}

// draft is an unfinished record.
type draft struct {
	Record
	begun time.Time
	spent spent
	// key is the question's cache key.
	key [32]byte
}

// setFacts sets the facts.
func (d *draft) setFacts(facts any) (err error) {
	d.Facts, err = json.Marshal(facts)
	return err
}

// Move is a move or an answer to an invitation.
type Move struct {
	// Move is "offer", "accept" or "end", for invitations "accept" or "reject".
	Move string `json:"move"`
	// Offer is the offered or accepted outcome, if any.
	Offer *Offer `json:"offer,omitempty"`
	// Reason is a constant of the engine.
	Reason string `json:"reason,omitempty"`
}

// Answer documents one model's answer.
type Answer struct {
	Model string `json:"model"`
	// Failure is empty for usable answers. Status is the HTTP status of a temporary failure, or 0.
	Failure Failure `json:"failure,omitempty"`
	Status  int     `json:"http_status,omitempty"`
	// Move, Candidate, Price and Terms repeat the answer.
	Move      string            `json:"move,omitempty"`
	Candidate int               `json:"candidate,omitempty"`
	Price     string            `json:"price,omitempty"`
	Terms     map[string]string `json:"terms,omitempty"`
	// Reason is untrusted model output: up to 300 bytes without control characters.
	Reason string `json:"reason,omitempty"`
	// Correction tells how the offer was moved into the band, and Override why the strategy's move replaced the
	// answer.
	Correction string       `json:"correction,omitempty"`
	Override   string       `json:"override,omitempty"`
	Usage      RequestUsage `json:"usage"`
	// Duration includes retries, in nanoseconds.
	Duration time.Duration `json:"duration_ns"`
}

// RequestUsage counts requests: see [Spending].
type RequestUsage struct {
	Requests          int          `json:"requests"`
	InputTokens       int64        `json:"input_tokens"`
	CachedInputTokens int64        `json:"cached_input_tokens"`
	OutputTokens      int64        `json:"output_tokens"`
	AssumedTokens     int64        `json:"assumed_tokens"`
	Cost              MicroDollars `json:"cost_microdollars"`
	AssumedCost       MicroDollars `json:"assumed_cost_microdollars"`
}

func (s *spent) requestUsage() RequestUsage {
	return RequestUsage{
		Requests: int(s.requests), InputTokens: s.usage.InputTokens, CachedInputTokens: s.usage.CachedInputTokens,
		OutputTokens: s.usage.OutputTokens, AssumedTokens: s.assumed.tokens, Cost: s.cost.microDollars(),
		AssumedCost: s.assumed.cost.microDollars(),
	}
}

// maxText limits model output in records, in bytes.
const maxText = 300

// printable cuts a text to maxText, and replaces unprintable characters by spaces.
func printable(text string) string {
	if len(text) > 4*maxText {
		text = text[:4*maxText]
	}
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
