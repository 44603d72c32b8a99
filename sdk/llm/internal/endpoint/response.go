package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// Object returns the model's text as JSON. It returns an error if the text is no JSON object, or contains the
// key: a response is recorded, and a proxy can repeat the headers of a request.
func Object(text, key string) ([]byte, error) {
	content := []byte(strings.TrimSpace(text))
	switch {
	case len(content) == 0:
		return nil, errors.New("response contains no text")
	case !bytes.HasPrefix(content, []byte("{")) || !json.Valid(content):
		return nil, errors.New("response is not a JSON object")
	case key != "" && bytes.Contains(content, []byte(key)):
		return nil, errors.New("response contains the API key")
	}
	return content, nil
}

// Schema returns a JSON Schema as the SDKs take it. The order of its properties, in which a model writes
// them, is kept.
func Schema(raw json.RawMessage) (map[string]any, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return nil, errors.New("schema is not a JSON object")
	}
	schema := make(map[string]any, len(fields))
	for name, field := range fields {
		schema[name] = field
	}
	return schema, nil
}

// maxCount is the largest plausible token count.
const maxCount = 1 << 40

// PlausibleUsage reports whether token counts can be counts of one response: cached tokens are part of the
// input tokens.
func PlausibleUsage(input, cached, output int64) bool {
	return input >= 0 && input <= maxCount && cached >= 0 && cached <= input && output >= 0 && output <= maxCount
}
