package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

func dialectOf(api API) (dialect, error) {
	switch api {
	case Responses:
		return openAI{responsesAPI{}}, nil
	case ChatCompletions:
		return openAI{chatAPI{}}, nil
	case AzureResponses:
		return azure{responsesAPI{}}, nil
	case AzureChatCompletions:
		return azure{chatAPI{}}, nil
	case Messages:
		return anthropic{}, nil
	}
	return nil, fmt.Errorf("llmtest: unknown API %d", int(api))
}

// openAIBody is the dialect part common to OpenAI and Azure.
type openAIBody interface {
	path() string
	parseBody(body []byte) (Request, *problem)
	render(Request, outcome) map[string]any
}

// openAI is an API at OpenAI.
type openAI struct{ openAIBody }

func (openAI) base() string { return "/v1" }

func (o openAI) check(r *http.Request, key string) *problem {
	if r.URL.Path != o.base()+o.path() {
		return &problem{status: http.StatusNotFound, kind: "invalid_request_error", message: "Invalid URL"}
	}
	given, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !isBearer {
		return &problem{
			status: http.StatusUnauthorized, kind: "invalid_request_error",
			message: "You didn't provide an API key.",
		}
	}
	if given != key {
		return &problem{
			status: http.StatusUnauthorized, kind: "invalid_request_error", code: "invalid_api_key",
			message: "Incorrect API key provided: " + given,
		}
	}
	return nil
}

func (o openAI) parse(_ *http.Request, body []byte) (Request, *problem) { return o.parseBody(body) }

func (openAI) failure(broken problem) map[string]any {
	return map[string]any{"error": map[string]any{
		"message": broken.message, "type": broken.kind, "param": orNull(broken.param), "code": orNull(broken.code),
	}}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// azure is an API of OpenAI at Azure.
type azure struct{ openAIBody }

func (azure) base() string { return "" }

var (
	azureVersion = regexp.MustCompile(`^20[0-9]{2}-[0-9]{2}-[0-9]{2}(-preview)?$`)
	azurePath    = regexp.MustCompile(`^/openai(?:/deployments/([^/]+))?(/[a-z/]+)$`)
)

func (a azure) check(r *http.Request, key string) *problem {
	path := azurePath.FindStringSubmatch(r.URL.Path)
	wantsDeployment := a.path() == chatPath
	if path == nil || path[2] != a.path() || (path[1] != "") != wantsDeployment ||
		!azureVersion.MatchString(r.URL.Query().Get("api-version")) {
		return &problem{status: http.StatusNotFound, code: "404", message: "Resource not found"}
	}
	if given := r.Header.Get("Api-Key"); given != key || r.Header.Get("Authorization") != "" {
		return &problem{
			status: http.StatusUnauthorized, code: "401",
			message: "Access denied due to invalid subscription key or wrong API endpoint: " + given,
		}
	}
	return nil
}

func (a azure) parse(r *http.Request, body []byte) (Request, *problem) {
	request, broken := a.parseBody(body)
	if deployment := azurePath.FindStringSubmatch(r.URL.Path)[1]; deployment != "" && broken == nil {
		request.Model = deployment
	}
	return request, broken
}

func (azure) failure(broken problem) map[string]any {
	fields := map[string]any{"code": orNull(broken.code), "message": broken.message}
	if broken.code == "content_filter" {
		fields["status"] = broken.status
		fields["innererror"] = map[string]any{"code": "ResponsibleAIPolicyViolation"}
	}
	return map[string]any{"error": fields}
}

// invalid returns OpenAI's error for an invalid parameter.
func invalid(param, code, format string, arguments ...any) *problem {
	return &problem{
		status: http.StatusBadRequest, kind: "invalid_request_error", param: param, code: code,
		message: fmt.Sprintf(format, arguments...),
	}
}

// decode decodes a request whose top-level parameters must be known.
func decode(body []byte, known string, into any) *problem {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return invalid("", "", "We could not parse the JSON body of your request.")
	}
	names := strings.Fields(known)
	for name := range fields {
		if !slices.Contains(names, name) {
			return invalid(name, "unknown_parameter", "Unknown parameter: '%s'.", name)
		}
	}
	if err := json.Unmarshal(body, into); err != nil {
		return invalid("", "invalid_type", "Invalid type: %v", err)
	}
	return nil
}

// format describes the response, within a request.
type format struct {
	Type   string
	Name   string
	Strict bool
	Schema json.RawMessage
}

var formatName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (f format) check(param string) *problem {
	switch {
	case f.Type != "json_schema":
		return invalid(param+".type", "invalid_value", "Invalid value: '%s'. Expected 'json_schema'.", f.Type)
	case !formatName.MatchString(f.Name):
		return invalid(param+".name", "invalid_value", "Invalid '%s.name'.", param)
	case !f.Strict:
		return invalid(param+".strict", "invalid_value", "Tests support only strict schemas.")
	}
	if err := openAIRules.check(f.Schema); err != nil {
		return invalid(param+".schema", "invalid_json_schema",
			"Invalid schema for response_format '%s': %v", f.Name, err)
	}
	return nil
}

func created() int64 { return time.Now().Unix() }
