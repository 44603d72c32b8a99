// Package examples runs the examples as a reader would.
package examples

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExamplesRun(t *testing.T) {
	for example, says := range map[string][]string{
		"create-and-settle": {"settled at 3000000: fee 15000, decay 221642", "seller   has   2985000 base units"},
		"watch":             {"NegotiationCreated", "round 1, ", "round 2, ", "walks away, 4802000 go back"},
		"list":              {"1000000 of 1000000", "2000000 of 2000000", "3000000 of 3000000", "round 0 of"},
	} {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), "go", "run", "./"+example)
			output, err := command.CombinedOutput()
			require.NoError(t, err, string(output))
			for _, words := range says {
				assert.Contains(t, string(output), words)
			}
		})
	}
}
