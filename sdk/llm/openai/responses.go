package openai

import (
	"context"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/haggle-protocol/haggle/sdk/llm"
)

func (m *model) byResponses(
	ctx context.Context, request llm.Request, schema map[string]any, key string,
) (*llm.Response, error) {
	params := responses.ResponseNewParams{
		Model:           m.model,
		Instructions:    sdk.String(request.Instructions),
		Input:           responses.ResponseNewParamsInputUnion{OfString: sdk.String(request.Input)},
		MaxOutputTokens: sdk.Int(int64(request.MaxTokens)),
		// The facts contain the owner's limits: OpenAI is not to keep them.
		Store: sdk.Bool(false),
		Text: responses.ResponseTextConfigParam{Format: responses.ResponseFormatTextConfigUnionParam{
			OfJSONSchema: &responses.ResponseFormatTextJSONSchemaConfigParam{
				Name: request.SchemaName, Schema: schema, Strict: sdk.Bool(true),
			},
		}},
	}
	if request.Temperature != nil {
		params.Temperature = sdk.Float(*request.Temperature)
	}
	var raw *http.Response
	result, err := m.responses.New(ctx, params, m.options(key, &raw)...)
	if err != nil {
		return nil, m.failure(ctx, raw, err)
	}
	used := result.Usage
	counts := usage(used.InputTokens, used.InputTokensDetails.CachedTokens, used.OutputTokens,
		used.JSON.InputTokens.Valid() && used.JSON.OutputTokens.Valid())
	text, err := textOf(result, counts)
	if err != nil {
		return nil, err
	}
	return response(text, key, counts)
}

// textOf returns the text of the final message.
func textOf(result *responses.Response, counts llm.Usage) (string, error) {
	unusable := func(text string) error { return &llm.ResponseError{Err: errors.New(text), Usage: counts} }
	switch result.Status {
	case responses.ResponseStatusCompleted:
	case responses.ResponseStatusIncomplete:
		if result.IncompleteDetails.Reason == "content_filter" {
			return "", &llm.RefusalError{Usage: counts}
		}
		return "", &llm.ResponseError{Err: errTruncated, Usage: counts}
	case responses.ResponseStatusFailed:
		switch result.Error.Code {
		case responses.ResponseErrorCodeServerError, responses.ResponseErrorCodeRateLimitExceeded:
			code := errors.New("response failed: " + string(result.Error.Code))
			return "", &llm.TemporaryError{Status: http.StatusOK, Err: code, Usage: counts}
		}
		return "", unusable("response failed")
	default:
		return "", unusable("response has no final status")
	}
	var text strings.Builder
	messages := 0
	for _, item := range result.Output {
		if strings.HasSuffix(item.Type, "_call") {
			return "", &llm.ResponseError{Err: errToolCall, Usage: counts}
		}
		// Reasoning and commentary are not the response.
		if item.Type != "message" || item.Phase == responses.ResponseOutputMessagePhaseCommentary {
			continue
		}
		messages++
		for _, part := range item.Content {
			switch part.Type {
			case "refusal":
				return "", &llm.RefusalError{Usage: counts}
			case "output_text":
				text.WriteString(part.Text)
			}
		}
	}
	if messages > 1 {
		return "", unusable("response contains more than one message")
	}
	return text.String(), nil
}
