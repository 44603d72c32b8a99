package llmtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/llm/llmtest"
)

// Texts that no error and no log may contain.
const (
	plantedKey    = "sk-planted-4be1"
	plantedPrompt = "planted-prompt-77d0"
	plantedText   = "planted-text-c93f"
)

var apis = []llmtest.API{
	llmtest.Responses, llmtest.ChatCompletions, llmtest.AzureResponses, llmtest.AzureChatCompletions,
	llmtest.Messages,
}

const schema = `{"type":"object","properties":{"reason":{"type":"string"},"move":{"type":"string",` +
	`"enum":["offer","accept"]},"price":{"type":"string"},"candidate":{"type":["integer","null"]}},` +
	`"required":["reason","move","price","candidate"],"additionalProperties":false}`

const offer = `{"reason":"` + plantedText + `","move":"offer","price":"12.50","candidate":3}`

func start(t *testing.T, config llmtest.Config) *llmtest.Server {
	t.Helper()
	config.Key = plantedKey
	if config.Script == nil {
		config.Script = func(llmtest.Request) string { return offer }
	}
	server, err := llmtest.Start(config)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return server
}

// eachAPI runs a test with each API.
func eachAPI(t *testing.T, test func(*testing.T, llmtest.API)) {
	t.Helper()
	for _, api := range apis {
		t.Run(api.String(), func(t *testing.T) {
			t.Parallel()
			test(t, api)
		})
	}
}
