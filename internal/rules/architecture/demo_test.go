package architecture

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// heavy lists modules that take long to compile, and that cmd/demo does not need.
var heavy = []string{
	"modernc.org/sqlite", "github.com/jackc/pgx", "google.golang.org/grpc", "go.opentelemetry.io/otel/exporters", "gonum.org/v1/plot",
	"github.com/spf13/cobra",
}

// TestDemoAvoidsHeavyModules checks that cmd/demo imports no module that takes long to compile.
func TestDemoAvoidsHeavyModules(t *testing.T) {
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
