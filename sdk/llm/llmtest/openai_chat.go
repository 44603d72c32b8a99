package llmtest

import "encoding/json"

// chatAPI is OpenAI's chat completions API.
type chatAPI struct{}

const chatPath = "/chat/completions"

func (chatAPI) path() string { return chatPath }

// chatParameters contains the API parameters.
const chatParameters = `audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
	max_tokens messages metadata modalities model n parallel_tool_calls prediction presence_penalty
	prompt_cache_key prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier
	stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity
	web_search_options`

func (chatAPI) parseBody(body []byte) (Request, *problem) {
	var given struct {
		Model    *string
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		MaxTokens           *int `json:"max_tokens"`
		MaxCompletionTokens *int `json:"max_completion_tokens"`
		Stream              bool
		ResponseFormat      struct {
			Type       string
			JSONSchema format `json:"json_schema"`
		} `json:"response_format"`
	}
	if broken := decode(body, chatParameters, &given); broken != nil {
		return Request{}, broken
	}
	limit := given.MaxCompletionTokens
	if limit == nil {
		limit = given.MaxTokens
	}
	switch {
	case given.Model == nil || *given.Model == "":
		return Request{}, invalid("", "", "you must provide a model parameter")
	case len(given.Messages) == 0:
		return Request{}, invalid("messages", "empty_array", "Invalid 'messages': empty array.")
	case given.MaxTokens != nil && given.MaxCompletionTokens != nil:
		return Request{}, invalid("max_tokens", "invalid_parameter_combination",
			"Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case limit == nil || *limit < 1:
		return Request{}, invalid("max_completion_tokens", "integer_below_min_value",
			"Invalid 'max_completion_tokens': tests need a value >= 1.")
	case given.Stream:
		return Request{}, invalid("stream", "invalid_value", "Tests support no streams.")
	}
	request := Request{Model: *given.Model, MaxTokens: *limit}
	for index, message := range given.Messages {
		content, isText := textOf(message.Content)
		switch {
		case !isText:
			return Request{}, invalid("messages", "invalid_type", "Invalid 'messages[%d].content'.", index)
		case message.Role == "system" || message.Role == "developer":
			request.Instructions += content
		case message.Role == "user":
			request.Input += content
		default:
			return Request{}, invalid("messages", "invalid_value", "Invalid value: '%s'.", message.Role)
		}
	}
	described := given.ResponseFormat.JSONSchema
	described.Type = given.ResponseFormat.Type
	if broken := described.check("response_format"); broken != nil {
		return Request{}, broken
	}
	request.SchemaName, request.Schema = described.Name, described.Schema
	return request, nil
}

// textOf returns a string, or the joined texts of parts.
func textOf(content json.RawMessage) (string, bool) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text, text != ""
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(content, &parts) != nil || len(parts) == 0 {
		return "", false
	}
	for _, part := range parts {
		if part.Type != "text" || part.Text == "" {
			return "", false
		}
		text += part.Text
	}
	return text, true
}

func (chatAPI) render(request Request, result outcome) map[string]any {
	message := map[string]any{
		"role": "assistant", "content": result.text, "refusal": nil, "annotations": []any{},
		"reasoning_content": reasoning, // of compatible endpoints
	}
	reasons := map[finish]string{
		complete: "stop", truncated: "length", refused: "stop", filtered: "content_filter", toolCall: "tool_calls",
	}
	switch result.finish {
	case refused:
		message["content"], message["refusal"] = nil, "I cannot help with this."
	case toolCall:
		message["content"] = nil
		message["tool_calls"] = []any{map[string]any{
			"id": "call_1", "type": "function",
			"function": map[string]any{"name": "submit_offer", "arguments": result.text},
		}}
	}
	choices := []any{map[string]any{
		"index": 0, "message": message, "logprobs": nil, "finish_reason": reasons[result.finish],
	}}
	if result.empty {
		choices = []any{}
	}
	rendered := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": created(), "model": request.Model,
		"choices": choices, "service_tier": "default",
	}
	if result.extra {
		message["future_part"], rendered["future_field"] = []any{"x"}, map[string]any{"nested": 1}
	}
	if !result.hidden {
		used := result.usage.signed(result.negative)
		rendered["usage"] = map[string]any{
			"prompt_tokens": used.Input, "prompt_tokens_details": map[string]any{"cached_tokens": used.Cached},
			"completion_tokens":         used.Output,
			"completion_tokens_details": map[string]any{"reasoning_tokens": min(used.Output, tokens(reasoning))},
			"total_tokens":              used.Input + used.Output,
		}
	}
	return rendered
}
