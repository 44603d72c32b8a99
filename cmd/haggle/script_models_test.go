package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/llmtest"
)

var modelAPIs = map[string]llmtest.API{
	"openai": llmtest.Responses, "openai-chat": llmtest.ChatCompletions, "anthropic": llmtest.Messages,
}

// languageModel starts a language model server: "language-model NAME API [ANSWER]" sets NAME to the server
// URL, and writes the API key to the file NAME. The model accepts if it may, and otherwise offers the first
// candidate; if ANSWER is given, it always returns that text.
func languageModel(ts *testscript.TestScript, _ bool, arguments []string) {
	config := llmtest.Config{API: modelAPIs[arguments[1]], Script: agreeable}
	if len(arguments) == 3 {
		config.Script = func(llmtest.Request) string { return arguments[2] }
	}
	server, err := llmtest.Start(config)
	ts.Check(err)
	ts.Defer(server.Close)
	ts.Setenv(arguments[0], server.URL())
	ts.Check(os.WriteFile(ts.MkAbs(arguments[0]), []byte(server.Key()+"\n"), 0o600))
}

// agreeable is a model's response to a question.
func agreeable(request llmtest.Request) string {
	var facts llm.Facts
	if json.Unmarshal([]byte(request.Input), &facts) != nil || len(facts.Moves) == 0 {
		return `{"reason":"a fair buyer","answer":"accept"}`
	}
	move, candidate := "offer", "1"
	if slices.Contains(facts.Moves, "accept") {
		move, candidate = "accept", "0"
	}
	terms := `"price":""`
	if strings.Contains(string(request.Schema), `"terms"`) {
		terms = `"terms":{}`
	}
	return `{"reason":"as the owner \u001b[31mwishes","move":"` + move + `","candidate":` + candidate + `,` + terms + `}`
}
