package llmtest_test

import (
	"context"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/llmtest"
	"github.com/haggle-protocol/haggle/sdk/llm/openai"
)

// A server fails once and then responds. The counts of the client equal the server's.
func Example() {
	server, err := llmtest.Start(llmtest.Config{
		API:    llmtest.ChatCompletions,
		Script: func(r llmtest.Request) string { return fmt.Sprintf(`{"price":"%d"}`, 10+r.Number) },
		Plan:   []llmtest.Fault{llmtest.Status(503)},
	})
	if err != nil {
		panic(err)
	}
	defer server.Close()

	model, err := openai.New(openai.Config{
		Model: "local", BaseURL: server.URL(), API: openai.ChatCompletions,
		Key: llm.KeyFrom("example", func() (string, error) { return server.Key(), nil }),
	})
	if err != nil {
		panic(err)
	}
	request := llm.Request{
		Input: "{}", Instructions: "Sell.", MaxTokens: 100, SchemaName: "turn",
		Schema: []byte(`{"type":"object","properties":{"price":{"type":"string"}},"required":["price"],
			"additionalProperties":false}`),
	}
	_, err = model.Respond(context.Background(), request)
	fmt.Println(err)
	response, err := model.Respond(context.Background(), request)
	fmt.Println(string(response.JSON), err, response.Usage.InputTokens == server.Totals().Reported.Input)
	// Output:
	// llm: temporary failure: HTTP status 503: Service Unavailable (server_error)
	// {"price":"12"} <nil> true
}
