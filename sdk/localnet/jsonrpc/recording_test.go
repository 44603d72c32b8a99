package jsonrpc_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// recordings is the directory containing a validator's responses, with one file per request group.
const recordings = "testdata/validator"

// exchange is a request with the response, or a subscription notification.
type exchange struct {
	Name     string `json:"name"`
	Method   string `json:"method"`
	Params   any    `json:"params,omitempty"`
	Response any    `json:"response"`
}

// group is a list of exchanges in scenario order.
type group struct {
	name      string
	exchanges []exchange
}

func writeRecording(t *testing.T, folder string, groups []group) {
	t.Helper()
	require.NoError(t, os.RemoveAll(folder))
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for _, g := range groups {
		var content bytes.Buffer
		encoder := json.NewEncoder(&content)
		encoder.SetIndent("", "\t")
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(g.exchanges))
		require.NoError(t, os.WriteFile(filepath.Join(folder, g.name+".json"), content.Bytes(), 0o644))
	}
}

// readRecording returns each group's exchanges.
func readRecording(t *testing.T, folder string) map[string][]exchange {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	recorded := map[string][]exchange{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		var exchanges []exchange
		require.NoError(t, decodeExact(content, &exchanges), path)
		name := filepath.Base(path)
		recorded[name[:len(name)-len(".json")]] = exchanges
	}
	return recorded
}

// decodeExact decodes JSON and keeps the digits of numbers: some exceed a float64's precision.
func decodeExact(content []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// generic converts a value to the types that decodeExact returns.
func generic(t *testing.T, value any) any {
	t.Helper()
	content, err := json.Marshal(value)
	require.NoError(t, err)
	var converted any
	require.NoError(t, decodeExact(content, &converted))
	return converted
}
