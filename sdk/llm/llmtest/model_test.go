package llmtest_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/anthropic"
	"github.com/haggle-protocol/haggle/sdk/llm/llmtest"
	"github.com/haggle-protocol/haggle/sdk/llm/openai"
)

// logged contains everything logged by the tests, except by package testing.
var logged lockedBuffer

type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

// TestMain searches the logs of all tests.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug - 10})))
	log.SetOutput(&logged)
	stderr := os.Stderr
	reader, writer, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	os.Stderr = writer
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(io.MultiWriter(stderr, &logged), reader)
	}()
	code := m.Run()
	writer.Close()
	<-copied
	for _, planted := range []string{plantedKey, plantedPrompt, plantedText} {
		if strings.Contains(logged.buffer.String(), planted) {
			fmt.Fprintf(stderr, "the logs contain %s\n", planted)
			code = 1
		}
	}
	os.Exit(code)
}

func request() llm.Request {
	return llm.Request{
		Instructions: "You sell. " + plantedPrompt + strings.Repeat(" Never go below your limit.", 20),
		Input:        `{"round":3,"text":"` + plantedPrompt + `"}`,
		SchemaName:   "turn", Schema: []byte(schema), MaxTokens: 500,
	}
}

// connect returns the adapter's model for a server.
func connect(t *testing.T, api llmtest.API, server *llmtest.Server, key llm.Key) llm.Model {
	t.Helper()
	return connectWith(t, api, server, key, server.HTTPClient())
}

func connectWith(
	t *testing.T, api llmtest.API, server *llmtest.Server, key llm.Key, client *http.Client,
) llm.Model {
	t.Helper()
	if client != nil {
		t.Cleanup(client.CloseIdleConnections)
	}
	azure := openai.Azure{Endpoint: server.URL(), APIVersion: llmtest.APIVersion}
	var model llm.Model
	var err error
	switch api {
	case llmtest.Responses:
		model, err = openai.New(openai.Config{Model: "m", Key: key, BaseURL: server.URL(), HTTPClient: client})
	case llmtest.ChatCompletions:
		model, err = openai.New(openai.Config{
			Model: "m", Key: key, BaseURL: server.URL(), HTTPClient: client, API: openai.ChatCompletions,
		})
	case llmtest.AzureResponses:
		model, err = openai.New(openai.Config{Model: "m", Key: key, Azure: azure, HTTPClient: client})
	case llmtest.AzureChatCompletions:
		model, err = openai.New(openai.Config{
			Model: "m", Key: key, Azure: azure, HTTPClient: client, API: openai.ChatCompletions,
		})
	case llmtest.Messages:
		model, err = anthropic.New(anthropic.Config{
			Model: "m", Key: key, BaseURL: server.URL(), HTTPClient: client,
		})
	}
	require.NoError(t, err)
	return model
}

func serverKey() llm.Key {
	return llm.KeyFrom("test", func() (string, error) { return plantedKey, nil })
}
