// Package anthropic connects package llm to Anthropic's messages API with structured outputs.
//
// It uses Anthropic's own SDK, and reads none of that SDK's environment variables. Structured outputs need a
// model of generation 4.5 or later, and schemas whose objects forbid additional properties. Limits for
// numbers, lengths and array sizes are not supported.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/internal/endpoint"
)

// Config identifies the model and its endpoint.
type Config struct {
	// Model is the name of the model.
	Model string
	// Name identifies the model in costs and records. If empty, "anthropic:" and Model are used.
	Name string
	// Key is the API key.
	Key llm.Key
	// BaseURL is the URL of the API, up to "/v1/messages". If empty, Anthropic's is used. Its scheme must be
	// https, or http for the local machine.
	BaseURL string
	// HTTPClient sends the requests. If nil, the model has its own. Redirects are not followed in either
	// case.
	HTTPClient *http.Client
}

// requestTimeout limits a request whose context has no earlier deadline. The SDK would otherwise choose a
// limit, and reject some values of MaxTokens.
const requestTimeout = 10 * time.Minute

type model struct {
	name, model, host string
	key               llm.Key
	messages          sdk.MessageService
}

// New returns a model. It sends no requests. Each response is limited to 1 MiB, and each request to 10
// minutes.
func New(config Config) (llm.Model, error) {
	if config.Model == "" {
		return nil, errors.New("anthropic: model not set")
	}
	if config.Key.IsZero() {
		return nil, errors.New("anthropic: key not set")
	}
	text, location := "https://api.anthropic.com", option.WithEnvironmentProduction()
	if config.BaseURL != "" {
		text, location = config.BaseURL, option.WithBaseURL(config.BaseURL)
	}
	host, err := endpoint.CheckURL(text)
	if err != nil {
		return nil, fmt.Errorf("anthropic: endpoint: %w", err)
	}
	m := &model{name: config.Name, model: config.Model, host: host, key: config.Key}
	if m.name == "" {
		m.name = "anthropic:" + m.model
	}
	m.messages = sdk.NewMessageService(
		location,
		option.WithHTTPClient(endpoint.Client(config.HTTPClient)),
		option.WithMaxRetries(0),
		option.WithRequestTimeout(requestTimeout),
		// The SDK's traces can contain prompts, if an environment variable asks for it.
		option.WithoutOpenTelemetry(),
	)
	return m, nil
}

// Name identifies the model in costs and records.
func (m *model) Name() string { return m.name }

// Respond sends one request and returns the response.
func (m *model) Respond(ctx context.Context, request llm.Request) (*llm.Response, error) {
	schema, err := endpoint.Schema(request.Schema)
	if err != nil {
		return nil, &llm.ResponseError{Err: err, Unprocessed: true}
	}
	key, err := m.key.Reveal()
	if err != nil {
		return nil, &llm.ResponseError{Err: err, Unprocessed: true}
	}
	params := sdk.MessageNewParams{
		Model:        m.model,
		MaxTokens:    int64(request.MaxTokens),
		Messages:     []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(request.Input))},
		OutputConfig: sdk.OutputConfigParam{Format: sdk.JSONOutputFormatParam{Schema: schema}},
	}
	if request.Instructions != "" { // the API rejects empty blocks
		params.System = []sdk.TextBlockParam{{Text: request.Instructions}}
	}
	if request.Temperature != nil {
		params.Temperature = sdk.Float(*request.Temperature)
	}
	var raw *http.Response
	message, err := m.messages.New(ctx, params, option.WithAPIKey(key), option.WithResponseInto(&raw))
	if err != nil {
		return nil, m.failure(ctx, raw, err)
	}
	counts := usage(message.Usage)
	text, err := textOf(message, counts)
	if err != nil {
		return nil, err
	}
	content, err := endpoint.Object(text, key)
	if err != nil {
		return nil, &llm.ResponseError{Err: err, Usage: counts}
	}
	return &llm.Response{JSON: content, Usage: counts}, nil
}

// textOf returns a message's text, without thinking.
func textOf(message *sdk.Message, counts llm.Usage) (string, error) {
	unusable := func(text string) error { return &llm.ResponseError{Err: errors.New(text), Usage: counts} }
	switch message.StopReason {
	case sdk.StopReasonEndTurn:
	case sdk.StopReasonRefusal:
		return "", &llm.RefusalError{Usage: counts}
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return "", unusable("response truncated: token limit reached")
	case sdk.StopReasonToolUse, sdk.StopReasonPauseTurn:
		return "", unusable("model calls a tool instead of responding")
	default:
		return "", unusable("response stopped for an unknown reason")
	}
	var text strings.Builder
	for _, block := range message.Content {
		if strings.HasSuffix(block.Type, "tool_use") {
			return "", unusable("model calls a tool instead of responding")
		}
		if block.Type == "text" {
			text.WriteString(block.Text)
		}
	}
	return text.String(), nil
}

// failure translates an error of the SDK. The SDK's errors contain the request with its headers, so they are
// not wrapped.
func (m *model) failure(ctx context.Context, raw *http.Response, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	code := ""
	if reported, isReported := errors.AsType[*sdk.Error](err); isReported {
		code = string(reported.Type())
	}
	failure := endpoint.Describe(m.host, raw, err, code)
	if failure.Temporary {
		return &llm.TemporaryError{Status: failure.Status, RetryAfter: failure.RetryAfter, Err: failure.Err}
	}
	rejected := failure.Status >= http.StatusBadRequest && failure.Status < http.StatusInternalServerError
	return &llm.ResponseError{Err: failure.Err, Unprocessed: rejected}
}

// usage returns the counts. The API counts the tokens that it reads from its cache, and writes to it,
// separately.
func usage(used sdk.Usage) llm.Usage {
	parts := [...]int64{used.InputTokens, used.CacheReadInputTokens, used.CacheCreationInputTokens}
	var input int64
	for _, part := range parts {
		if !endpoint.PlausibleUsage(part, 0, 0) {
			return llm.Usage{}
		}
		input += part
	}
	if !used.JSON.InputTokens.Valid() || !used.JSON.OutputTokens.Valid() ||
		!endpoint.PlausibleUsage(input, used.CacheReadInputTokens, used.OutputTokens) {
		return llm.Usage{}
	}
	return llm.Usage{
		InputTokens: input, CachedInputTokens: used.CacheReadInputTokens, OutputTokens: used.OutputTokens,
		Known: true,
	}
}
