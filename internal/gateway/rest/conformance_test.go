package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

var parameter = regexp.MustCompile(`\\\{[a-z]+\\\}`)

// conforming serves a handler and checks every response's status, document and Retry-After against the
// handler's own description.
func conforming(t *testing.T, handler http.Handler) http.Handler {
	t.Helper()
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/openapi.json", nil))
	require.Equal(t, http.StatusOK, answer.Code)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(answer.Body.Bytes()))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource("api.json", document))
	var description struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content, Headers map[string]json.RawMessage
			}
		}
	}
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &description))
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	var mutex sync.Mutex // a compiler serves one goroutine at a time
	compiled := map[string]*jsonschema.Schema{}
	compile := func(location string) (*jsonschema.Schema, error) {
		mutex.Lock()
		defer mutex.Unlock()
		if known := compiled[location]; known != nil {
			return known, nil
		}
		schema, err := compiler.Compile(location)
		compiled[location] = schema
		return schema, err
	}

	check := func(method, path string, status int, header http.Header, body []byte) error {
		kind := header.Get("Content-Type")
		for template, operations := range description.Paths {
			pattern := "^" + parameter.ReplaceAllString(regexp.QuoteMeta(template), `[^/]+`) + "$"
			operation, known := operations[strings.ToLower(method)]
			// Fixed path parts take precedence over parameters, as in the server.
			if !known || !regexp.MustCompile(pattern).MatchString(path) ||
				strings.HasPrefix(path, "/api/negotiations/publisher/") && !strings.Contains(template, "publisher") {
				continue
			}
			response, declared := operation.Responses[fmt.Sprint(status)]
			if _, typed := response.Content[kind]; !declared || !typed {
				return fmt.Errorf("%s %s: status %d with %s is not described", method, template, status, kind)
			}
			if _, described := response.Headers["Retry-After"]; !described && header.Get("Retry-After") != "" {
				return fmt.Errorf("%s %s: Retry-After of status %d is not described", method, template, status)
			}
			schema, err := compile(fmt.Sprintf("api.json#/paths/%s/%s/responses/%d/content/%s/schema",
				escape.Replace(template), strings.ToLower(method), status, escape.Replace(kind)))
			if err != nil {
				return err
			}
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
			if err != nil {
				return err
			}
			if err := schema.Validate(value); err != nil {
				return fmt.Errorf("%s %s: %w\n%s", method, template, err, body)
			}
		}
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		method, path := r.Method, r.URL.Path
		handler.ServeHTTP(answer, r)
		if err := check(method, path, answer.Code, answer.Header(), answer.Body.Bytes()); err != nil {
			t.Error(err)
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}
