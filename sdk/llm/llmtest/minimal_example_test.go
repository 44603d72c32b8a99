package llmtest_test

import (
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/llm/llmtest"
)

// A document for any schema, where the values do not matter.
func ExampleMinimal() {
	fmt.Println(llmtest.Minimal([]byte(`{
		"type": "object",
		"properties": {"move": {"enum": ["offer", "accept"]}, "price": {"type": "string"}},
		"required": ["move", "price"], "additionalProperties": false
	}`)))
	// Output: {"move":"offer","price":""}
}
