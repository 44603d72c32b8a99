package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Model returns structured responses of one language model. Implementations may be called from several
// goroutines.
//
// No error text of an implementation contains a key, a prompt or the model's text.
type Model interface {
	// Name identifies the model in costs and records, such as "openai:gpt-5-mini".
	Name() string
	// Respond returns one response. It makes exactly one request of the API: the caller retries. It returns a
	// [*TemporaryError] if a later attempt may succeed, a [*RefusalError] if the model refuses, a
	// [*ResponseError] for any other response that cannot be used, and ctx's error if ctx ends.
	Respond(ctx context.Context, request Request) (*Response, error)
}

// Request asks a model for one structured response.
type Request struct {
	// Instructions are the rules, written by this package and the principal: the system or developer message.
	Instructions string
	// Input is the typed facts as JSON: the user message.
	Input string
	// SchemaName and Schema are the strict JSON Schema of the response.
	SchemaName string
	Schema     json.RawMessage
	// MaxTokens limits the response, in output tokens.
	MaxTokens int
	// Temperature is the sampling temperature, from 0. If nil, the API's default is used. Some models accept none.
	Temperature *float64 `json:",omitempty"`
}

// Response is a model's response.
type Response struct {
	// JSON is the text that should follow the schema. It is not validated yet.
	JSON  []byte
	Usage Usage
}

// Usage is the token count of one response, as the API reports it.
type Usage struct {
	// InputTokens include CachedInputTokens, and OutputTokens include reasoning tokens.
	InputTokens, CachedInputTokens, OutputTokens int64
	// Known reports whether the API has returned the counts.
	Known bool
}

// TemporaryError reports a request that may succeed later: HTTP status 408, 409, 429 or 5xx, an error of the
// network, or a response that was cut off.
type TemporaryError struct {
	// Status is the HTTP status; 0 if there was no response.
	Status int
	// RetryAfter is the time that the API asks to wait. If zero, it has not asked.
	RetryAfter time.Duration
	Err        error
	Usage      Usage
}

func (e *TemporaryError) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("llm: temporary failure: %v", e.Err)
	}
	return fmt.Sprintf("llm: temporary failure: HTTP status %d: %v", e.Status, e.Err)
}

// Unwrap returns Err.
func (e *TemporaryError) Unwrap() error { return e.Err }

// RefusalError reports that the model refuses to respond. The text of the refusal is untrusted and is not
// kept.
type RefusalError struct {
	Usage Usage
}

func (*RefusalError) Error() string { return "llm: the model refused the request" }

// ResponseError reports any other response that cannot be used, such as a truncated one or a tool call.
type ResponseError struct {
	Err   error
	Usage Usage
	// Unprocessed reports whether the model has not read the request: it was not sent, or rejected with an HTTP
	// status from 400 to 499. It then counts nothing.
	Unprocessed bool
}

func (e *ResponseError) Error() string { return fmt.Sprintf("llm: unusable response: %v", e.Err) }

// Unwrap returns Err.
func (e *ResponseError) Unwrap() error { return e.Err }
