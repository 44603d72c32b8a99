package result

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestEveryInstructionHasAnEffectOfItsOwn(t *testing.T) {
	instructions := map[string]string{}
	for _, instruction := range protocol.Instructions() {
		name := instruction.InstructionName()
		effect := Of(name)
		require.NotEqual(t, name, effect)
		require.Empty(t, instructions[effect], "%s and %s have the same effect", name, instructions[effect])
		instructions[effect] = name
	}
	require.Equal(t, "milestone disputed", Of("dispute_milestone"))
	require.Equal(t, "swap", Of("swap"), "an instruction of another program")
}
