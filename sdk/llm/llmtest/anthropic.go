package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// anthropic is Anthropic's messages API.
type anthropic struct{}

func (anthropic) base() string { return "" }

func (anthropic) check(r *http.Request, key string) *problem {
	switch {
	case r.URL.Path != "/v1/messages":
		return &problem{status: http.StatusNotFound, kind: "not_found_error", message: "Not Found"}
	case r.Header.Get("X-Api-Key") == "":
		return &problem{
			status: http.StatusUnauthorized, kind: "authentication_error", message: "x-api-key header is required",
		}
	case r.Header.Get("X-Api-Key") != key || r.Header.Get("Authorization") != "":
		return &problem{
			status: http.StatusUnauthorized, kind: "authentication_error",
			message: "invalid x-api-key: " + r.Header.Get("X-Api-Key"),
		}
	case r.Header.Get("Anthropic-Version") != "2023-06-01":
		return invalid("", "", "anthropic-version: header is required")
	}
	return nil
}

func (anthropic) failure(broken problem) map[string]any {
	return map[string]any{
		"type": "error", "request_id": "req_1",
		"error": map[string]any{"type": broken.kind, "message": broken.message},
	}
}

// messagesParameters contains the API parameters.
const messagesParameters = `cache_control container inference_geo max_tokens messages metadata model output_config
	service_tier speed stop_sequences stream system temperature thinking tool_choice tools top_k top_p`

func (anthropic) parse(_ *http.Request, body []byte) (Request, *problem) {
	var given struct {
		Model     string
		MaxTokens *int `json:"max_tokens"`
		System    json.RawMessage
		Messages  []struct {
			Role    string
			Content json.RawMessage
		}
		Stream       bool
		OutputConfig struct{ Format format } `json:"output_config"`
	}
	if broken := decode(body, messagesParameters, &given); broken != nil {
		broken.message = fmt.Sprintf("%s: Extra inputs are not permitted", broken.param)
		return Request{}, broken
	}
	described := given.OutputConfig.Format
	switch {
	case given.Model == "":
		return Request{}, invalid("", "", "model: Field required")
	case given.MaxTokens == nil:
		return Request{}, invalid("", "", "max_tokens: Field required")
	case *given.MaxTokens < 1:
		return Request{}, invalid("", "", "max_tokens: Input should be greater than or equal to 1")
	case len(given.Messages) != 1 || given.Messages[0].Role != "user":
		return Request{}, invalid("", "", "messages: tests support one message of the user")
	case given.Stream:
		return Request{}, invalid("", "", "stream: tests support no streams")
	case described.Type != "json_schema":
		return Request{}, invalid("", "", "output_config.format: tests support only json_schema")
	case described.Name != "" || described.Strict:
		return Request{}, invalid("", "", "output_config.format: Extra inputs are not permitted")
	}
	request := Request{Model: given.Model, MaxTokens: *given.MaxTokens, Schema: described.Schema}
	if err := anthropicRules.check(described.Schema); err != nil {
		return Request{}, invalid("", "", "output_config.format.schema: %v", err)
	}
	var isText bool
	if request.Input, isText = textOf(given.Messages[0].Content); !isText {
		return Request{}, invalid("", "", "messages.0: all messages must have non-empty content")
	}
	if given.System != nil {
		if request.Instructions, isText = textOf(given.System); !isText {
			return Request{}, invalid("", "", "system: text content blocks must be non-empty")
		}
	}
	return request, nil
}

func (anthropic) render(request Request, result outcome) map[string]any {
	reasons := map[finish]string{
		complete: "end_turn", truncated: "max_tokens", refused: "refusal", filtered: "refusal",
		toolCall: "tool_use",
	}
	content := []any{
		map[string]any{"type": "thinking", "thinking": reasoning, "signature": "c2lnbmF0dXJl"},
		map[string]any{"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
	}
	switch {
	case result.empty:
		content = []any{}
	case result.finish == refused, result.finish == filtered:
		content = append(content, map[string]any{"type": "text", "text": "I cannot help with this."})
	case result.finish == toolCall:
		content = append(content, map[string]any{
			"type": "tool_use", "id": "toolu_1", "name": "submit_offer",
			"input": map[string]any{"text": result.text},
		})
	default:
		if result.extra {
			content = append(content, map[string]any{"type": "future_block", "value": 1})
		}
		content = append(content, map[string]any{"type": "text", "text": result.text, "citations": nil})
	}
	rendered := map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": request.Model, "content": content,
		"stop_reason": reasons[result.finish], "stop_sequence": nil,
	}
	if result.extra {
		rendered["future_field"] = []any{map[string]any{"x": 1}}
	}
	if !result.hidden {
		used := result.usage.signed(result.negative)
		// Instructions that are not cached yet are written to the cache, and counted separately.
		written := min(tokens(request.Instructions), max(0, used.Input))
		if used.Cached != 0 {
			written = 0
		}
		rendered["usage"] = map[string]any{
			"input_tokens": used.Input - used.Cached - written, "cache_read_input_tokens": used.Cached,
			"cache_creation_input_tokens": written, "output_tokens": used.Output, "service_tier": "standard",
		}
	}
	return rendered
}
