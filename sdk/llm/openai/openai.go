// Package openai connects language models to package llm by the APIs of OpenAI: responses and chat
// completions, at OpenAI, at Azure OpenAI, and at endpoints that are compatible with chat completions.
//
// It uses OpenAI's own SDK, and reads none of that SDK's environment variables. Schemas must follow the rules
// of strict structured outputs: each object lists all properties as required and forbids additional properties.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/azure"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/internal/endpoint"
)

// API is an OpenAI API.
type API int

const (
	// Responses is the responses API.
	Responses API = iota
	// ChatCompletions is the chat completions API, which compatible endpoints offer.
	ChatCompletions
)

// Azure identifies a resource of Azure OpenAI.
type Azure struct {
	// Endpoint is the resource's URL, such as https://NAME.openai.azure.com. The scheme must be https.
	Endpoint string
	// APIVersion is an API version, such as 2025-04-01-preview.
	APIVersion string
}

// Config identifies model and endpoint.
type Config struct {
	// Model is the model name; on Azure, the deployment name.
	Model string
	// Name identifies the model in costs and records. If empty, "openai:" or "azure:" and Model are used.
	Name string
	// Key is the API key. It may be zero if BaseURL is set: then no key is sent.
	Key llm.Key
	// BaseURL is a compatible endpoint's URL, up to "/chat/completions" or "/responses". If empty, OpenAI's is
	// used. The scheme must be https, or http for the local machine.
	BaseURL string
	API     API
	// Azure selects Azure OpenAI. It excludes BaseURL.
	Azure Azure
	// HTTPClient sends the requests. If nil, the model uses a separate client. Redirects are not followed in
	// either case.
	HTTPClient *http.Client
}

type model struct {
	name, model, host string
	key               llm.Key
	azure             bool
	// maxTokens reports whether chat completions limit the response by max_tokens. OpenAI and Azure have
	// replaced this parameter, and many compatible endpoints know no other.
	maxTokens bool
	responses responses.ResponseService
	chat      sdk.ChatCompletionService
	respond   func(context.Context, llm.Request, map[string]any, string) (*llm.Response, error)
}

// New returns a model. It sends no requests. Each response is limited to 1 MiB.
func New(config Config) (llm.Model, error) {
	m := &model{name: config.Name, model: config.Model, key: config.Key}
	if m.model == "" {
		return nil, errors.New("openai: model not set")
	}
	options := []option.RequestOption{
		option.WithHTTPClient(endpoint.Client(config.HTTPClient)),
		option.WithMaxRetries(0),
	}
	location, err := m.locate(config)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	options = append(options, location)
	switch config.API {
	case Responses:
		m.responses, m.respond = responses.NewResponseService(options...), m.byResponses
	case ChatCompletions:
		m.chat, m.respond = sdk.NewChatCompletionService(options...), m.byChat
	default:
		return nil, fmt.Errorf("openai: unknown API %d", config.API)
	}
	return m, nil
}

// locate sets the host and the default name, and returns the option for the endpoint.
func (m *model) locate(config Config) (option.RequestOption, error) {
	vendor, location, text := "openai:", option.WithEnvironmentProduction(), "https://api.openai.com"
	switch {
	case config.Azure != Azure{}:
		if config.BaseURL != "" {
			return nil, errors.New("Azure and BaseURL exclude each other")
		}
		if config.Azure.APIVersion == "" {
			return nil, errors.New("Azure.APIVersion not set")
		}
		vendor, text, m.azure = "azure:", config.Azure.Endpoint, true
		location = azure.WithEndpoint(config.Azure.Endpoint, config.Azure.APIVersion)
	case config.BaseURL != "":
		text, location = config.BaseURL, option.WithBaseURL(config.BaseURL)
	}
	if m.key.IsZero() && config.BaseURL == "" {
		return nil, errors.New("key not set")
	}
	host, err := endpoint.CheckURL(text)
	if err == nil && m.azure && !strings.HasPrefix(strings.ToLower(text), "https:") {
		err = errors.New("URL must use https")
	}
	if err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	m.host, m.maxTokens = host, config.BaseURL != "" && !isOpenAI(text)
	if m.name == "" {
		m.name = vendor + m.model
	}
	return location, nil
}

// isOpenAI reports whether a URL is OpenAI's own, regional URLs included.
func isOpenAI(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && (parsed.Hostname() == "openai.com" || strings.HasSuffix(parsed.Hostname(), ".openai.com"))
}

// Name identifies the model in costs and records.
func (m *model) Name() string { return m.name }

// Respond sends a single request and returns the response.
func (m *model) Respond(ctx context.Context, request llm.Request) (*llm.Response, error) {
	schema, err := endpoint.Schema(request.Schema)
	if err != nil {
		return nil, &llm.ResponseError{Err: err, Unprocessed: true}
	}
	key := ""
	if !m.key.IsZero() {
		if key, err = m.key.Reveal(); err != nil {
			return nil, &llm.ResponseError{Err: err, Unprocessed: true}
		}
	}
	return m.respond(ctx, request, schema, key)
}

// options returns a request's options. The SDK stores the raw response in *raw.
func (m *model) options(key string, raw **http.Response) []option.RequestOption {
	options := []option.RequestOption{option.WithResponseInto(raw)}
	switch {
	case m.azure:
		options = append(options, azure.WithAPIKey(key))
	case key != "":
		options = append(options, option.WithAPIKey(key))
	}
	return options
}

// failure translates an SDK error. The SDK's errors contain the request with headers, so they are not wrapped.
func (m *model) failure(ctx context.Context, raw *http.Response, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	code := ""
	if reported, isReported := errors.AsType[*sdk.Error](err); isReported {
		code = reported.Code
	}
	if code == "content_filter" {
		return &llm.RefusalError{}
	}
	failure := endpoint.Describe(m.host, raw, err, code)
	if failure.Temporary {
		return &llm.TemporaryError{Status: failure.Status, RetryAfter: failure.RetryAfter, Err: failure.Err}
	}
	rejected := failure.Status >= http.StatusBadRequest && failure.Status < http.StatusInternalServerError
	return &llm.ResponseError{Err: failure.Err, Unprocessed: rejected}
}

// response returns the model's text as a response.
func response(text, key string, usage llm.Usage) (*llm.Response, error) {
	content, err := endpoint.Object(text, key)
	if err != nil {
		return nil, &llm.ResponseError{Err: err, Usage: usage}
	}
	return &llm.Response{JSON: content, Usage: usage}, nil
}

func usage(input, cached, output int64, reported bool) llm.Usage {
	if !reported || !endpoint.PlausibleUsage(input, cached, output) {
		return llm.Usage{}
	}
	return llm.Usage{InputTokens: input, CachedInputTokens: cached, OutputTokens: output, Known: true}
}

var (
	errToolCall  = errors.New("model calls a tool instead of responding")
	errTruncated = errors.New("response truncated: token limit reached")
)
