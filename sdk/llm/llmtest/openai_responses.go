package llmtest

// responsesAPI is OpenAI's responses API.
type responsesAPI struct{}

func (responsesAPI) path() string { return "/responses" }

// responsesParameters contains the API parameters.
const responsesParameters = `background context_management conversation include input instructions
	max_output_tokens max_tool_calls metadata model parallel_tool_calls previous_response_id prompt
	prompt_cache_key prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options
	temperature text tool_choice tools top_logprobs top_p truncation user`

// leastOutputTokens is the API's smallest limit.
const leastOutputTokens = 16

func (responsesAPI) parseBody(body []byte) (Request, *problem) {
	var given struct {
		Model           *string
		Instructions    string
		Input           *string
		MaxOutputTokens *int `json:"max_output_tokens"`
		Stream          bool
		Text            struct{ Format format }
	}
	if broken := decode(body, responsesParameters, &given); broken != nil {
		return Request{}, broken
	}
	switch {
	case given.Model == nil || *given.Model == "":
		return Request{}, invalid("model", "missing_required_parameter", "Missing required parameter: 'model'.")
	case given.Input == nil || *given.Input == "":
		return Request{}, invalid("input", "missing_required_parameter", "Missing required parameter: 'input'.")
	case given.MaxOutputTokens == nil || *given.MaxOutputTokens < leastOutputTokens:
		return Request{}, invalid("max_output_tokens", "integer_below_min_value",
			"Invalid 'max_output_tokens': integer below minimum value. Expected a value >= %d.", leastOutputTokens)
	case given.Stream:
		return Request{}, invalid("stream", "invalid_value", "Tests support no streams.")
	}
	if broken := given.Text.Format.check("text.format"); broken != nil {
		return Request{}, broken
	}
	return Request{
		Model: *given.Model, Instructions: given.Instructions, Input: *given.Input,
		SchemaName: given.Text.Format.Name, Schema: given.Text.Format.Schema, MaxTokens: *given.MaxOutputTokens,
	}, nil
}

func (responsesAPI) render(request Request, result outcome) map[string]any {
	message := func(phase any, parts ...any) map[string]any {
		return map[string]any{
			"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "phase": phase,
			"content": parts,
		}
	}
	text := func(text string) map[string]any {
		return map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
	}
	summary := map[string]any{"type": "summary_text", "text": reasoning}
	output := []any{map[string]any{"type": "reasoning", "id": "rs_1", "summary": []any{summary}}}
	status, details := "completed", any(nil)
	switch result.finish {
	case truncated:
		status, details = "incomplete", map[string]any{"reason": "max_output_tokens"}
	case filtered:
		status, details = "incomplete", map[string]any{"reason": "content_filter"}
	}
	switch {
	case result.empty:
	case result.finish == refused:
		refusal := map[string]any{"type": "refusal", "refusal": "I cannot help with this."}
		output = append(output, message(nil, refusal))
	case result.finish == toolCall:
		output = append(output, map[string]any{
			"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "submit_offer",
			"status": "completed", "arguments": result.text,
		})
	default:
		if result.extra {
			output = append(output, map[string]any{"type": "future_item", "text": "{}"},
				message("commentary", text("I compare the offers.")))
		}
		output = append(output, message("final_answer", text(result.text)))
	}
	rendered := map[string]any{
		"id": "resp_1", "object": "response", "created_at": created(), "status": status, "error": nil,
		"incomplete_details": details, "instructions": request.Instructions, "metadata": map[string]any{},
		"model": request.Model, "output": output, "parallel_tool_calls": true, "temperature": 1.0, "top_p": 1.0,
		"tool_choice": "auto", "tools": []any{}, "max_output_tokens": request.MaxTokens, "store": false,
	}
	if result.extra {
		rendered["future_field"] = map[string]any{"nested": []any{1, "two"}}
	}
	if !result.hidden {
		used := result.usage.signed(result.negative)
		rendered["usage"] = map[string]any{
			"input_tokens": used.Input, "input_tokens_details": map[string]any{"cached_tokens": used.Cached},
			"output_tokens":         used.Output,
			"output_tokens_details": map[string]any{"reasoning_tokens": min(used.Output, tokens(reasoning))},
			"total_tokens":          used.Input + used.Output,
		}
	}
	return rendered
}

// signed returns the counts, negative if wanted.
func (u Usage) signed(negative bool) Usage {
	if negative {
		return Usage{-u.Input, -u.Cached, -u.Output}
	}
	return u
}
