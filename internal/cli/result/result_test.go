package result

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryInstructionHasAnEffectOfItsOwn(t *testing.T) {
	content, err := os.ReadFile("../../../idl/haggle.json")
	require.NoError(t, err)
	var idl struct {
		Instructions []struct {
			Name string `json:"name"`
		} `json:"instructions"`
	}
	require.NoError(t, json.Unmarshal(content, &idl))
	instructions := map[string]string{}
	for _, instruction := range idl.Instructions {
		effect, known := effects[instruction.Name]
		require.True(t, known, instruction.Name)
		require.Empty(t, instructions[effect], "%s and %s have the same effect", instruction.Name, instructions[effect])
		instructions[effect] = instruction.Name
	}
	require.Len(t, effects, len(instructions))
}
