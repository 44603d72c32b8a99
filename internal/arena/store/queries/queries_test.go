package queries_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQueryFunctionsAreUpToDate(t *testing.T) {
	differences, err := exec.CommandContext(t.Context(), "../../../../toolchain/sqlc", "diff").CombinedOutput()
	require.NoError(t, err, "run `go generate ./internal/arena/store/queries` and commit the result:\n%s", differences)
}
