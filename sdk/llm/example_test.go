package llm_test

import (
	"context"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/llm"
)

// scripted is a model that always returns the same response.
type scripted string

func (scripted) Name() string { return "test:scripted" }

func (s scripted) Respond(context.Context, llm.Request) (*llm.Response, error) {
	return &llm.Response{JSON: []byte(s), Usage: llm.Usage{InputTokens: 120, OutputTokens: 9, Known: true}}, nil
}

// A model for tests needs no API.
func ExampleModel() {
	var model llm.Model = scripted(`{"move":"accept"}`)
	response, err := model.Respond(context.Background(), llm.Request{Input: "{}", MaxTokens: 100})
	fmt.Println(model.Name(), string(response.JSON), response.Usage.OutputTokens, err)
	// Output: test:scripted {"move":"accept"} 9 <nil>
}
