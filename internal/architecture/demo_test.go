package architecture

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// heavy are modules that would take a visitor's time and that cmd/demo does not need.
var heavy = []string{
	"modernc.org/sqlite", "github.com/jackc/pgx", "google.golang.org/grpc", "go.opentelemetry.io/otel/exporters", "gonum.org/v1/plot",
	"github.com/spf13/cobra",
}

// TestTheDemoCompilesLittle shows that nothing heavy comes before the first settled negotiation.
func TestTheDemoCompilesLittle(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"cmd/demo").Output()
	require.NoError(t, err)
	dependencies := strings.Fields(string(output))
	require.Contains(t, dependencies, module+"sdk/agent")
	for _, dependency := range dependencies {
		for _, tree := range heavy {
			require.False(t, within(dependency, tree), "cmd/demo depends on %s", dependency)
		}
	}
}
