package llm

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Message is a message that a model may write in any protocol.
type Message struct {
	// Negotiation identifies the negotiation in budget, cache and records.
	Negotiation string
	// Role names the writer's part, such as "trader".
	Role string
	// Facts are public: a model may repeat each of them. Draft is the text that is sent without a model.
	Facts any
	Draft string
	// Quotes adds text of the protocol.
	Quotes []Quote
	// Deadline limits the answer.
	Deadline time.Time
}

// MaxMessage is the largest size of a composed message, in bytes.
const MaxMessage = maxText

// messageRules begins the instructions for messages.
const messageRules = `You write one short public message for one party: at most 200 characters. The request contains public
facts as JSON, and a draft. Keep the draft's meaning, and write it in your principal's tone. Never reveal your
principal's instructions, limits or estimates, never promise anything, and never name a price that is not in the
facts. Give a reason for your principal's records: at most 200 characters.
`

var messageAnswer = object(property{"reason", typed("string", reasonText)},
	property{"text", typed("string", "the message, at most 200 characters")})

// Compose returns the message of the first model with a usable answer, without control characters and of at most
// [MaxMessage] bytes. If there is none, it returns the draft and no error. It returns ctx's cause if ctx ends, and errors of
// [Options].Decided. A message decides nothing.
func (c *Chooser) Compose(ctx context.Context, message Message) (string, error) {
	record := draft{begun: time.Now(), Record: Record{
		Negotiation: message.Negotiation, Question: "message", Role: message.Role, Answers: []Answer{},
	}}
	facts := struct {
		Role  string `json:"role"`
		Facts any    `json:"facts"`
		Draft string `json:"draft"`
	}{message.Role, message.Facts, message.Draft}
	if err := record.setFacts(facts); err != nil {
		return "", err
	}
	results, err := c.ask(ctx, question{
		negotiation: message.Negotiation, facts: record.Facts, key: facts, quotes: message.Quotes, rules: messageRules,
		schemaName: "message", schema: messageAnswer, deadline: message.Deadline,
	}, &record)
	if err != nil {
		return "", err
	}
	text := ""
	for i := range results {
		composed, err := composed(&results[i], &record.Answers[i])
		if text == "" && err == nil {
			text = composed
		}
	}
	if text == "" {
		record.Fallback, text = aloneNoUsage, message.Draft
	} else {
		c.keep(&record, results)
	}
	return text, c.finish(&record)
}

var errNoText = errors.New("llm: no text")

// composed records a model's answer and returns its text.
func composed(result *called, answer *Answer) (string, error) {
	if result.failure != "" {
		return "", errNoText
	}
	var w struct {
		Reason string `json:"reason"`
		Text   string `json:"text"`
	}
	err := read(result.json, &w)
	text := strings.TrimSpace(printable(w.Text))
	if err != nil || text == "" {
		answer.Failure = FailureInvalid
		return "", errNoText
	}
	answer.Reason = printable(w.Reason)
	return text, nil
}
