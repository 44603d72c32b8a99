package openai

import (
	"context"
	"errors"
	"net/http"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/haggle-protocol/haggle/sdk/llm"
)

func (m *model) byChat(
	ctx context.Context, request llm.Request, schema map[string]any, key string,
) (*llm.Response, error) {
	params := sdk.ChatCompletionNewParams{
		Model: m.model,
		Messages: []sdk.ChatCompletionMessageParamUnion{
			sdk.SystemMessage(request.Instructions), sdk.UserMessage(request.Input),
		},
		ResponseFormat: sdk.ChatCompletionNewParamsResponseFormatUnion{
			OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
				JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
					Name: request.SchemaName, Schema: schema, Strict: sdk.Bool(true),
				},
			},
		},
	}
	if limit := sdk.Int(int64(request.MaxTokens)); m.maxTokens {
		params.MaxTokens = limit
	} else {
		params.MaxCompletionTokens = limit
	}
	if request.Temperature != nil {
		params.Temperature = sdk.Float(*request.Temperature)
	}
	var raw *http.Response
	result, err := m.chat.New(ctx, params, m.options(key, &raw)...)
	if err != nil {
		return nil, m.failure(ctx, raw, err)
	}
	used := result.Usage
	counts := usage(used.PromptTokens, used.PromptTokensDetails.CachedTokens, used.CompletionTokens,
		used.JSON.PromptTokens.Valid() && used.JSON.CompletionTokens.Valid())
	unusable := func(err error) (*llm.Response, error) {
		return nil, &llm.ResponseError{Err: err, Usage: counts}
	}
	if len(result.Choices) == 0 {
		return unusable(errors.New("response contains no choices"))
	}
	choice := result.Choices[0]
	switch {
	case choice.Message.Refusal != "", choice.FinishReason == "content_filter":
		return nil, &llm.RefusalError{Usage: counts}
	case choice.FinishReason == "length":
		return unusable(errTruncated)
	case choice.FinishReason == "tool_calls", choice.FinishReason == "function_call",
		len(choice.Message.ToolCalls) > 0:
		return unusable(errToolCall)
	case choice.FinishReason != "stop" && choice.FinishReason != "": // some compatible endpoints leave it out
		return unusable(errors.New("response stopped for an unknown reason"))
	}
	return response(choice.Message.Content, key, counts)
}
