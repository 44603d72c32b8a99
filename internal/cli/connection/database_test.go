package connection

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
)

func TestNoDatabaseIsAFailureOfTheNetwork(t *testing.T) {
	_, refused := pgconn.Connect(t.Context(), "host=/none user=x")
	err := exitcode.Match(fmt.Errorf("x: %w", refused), NoDatabase)
	require.Equal(t, exitcode.Network, exitcode.KindOf(err))
	var explained *exitcode.Error
	require.True(t, errors.As(err, &explained))
	require.Equal(t, "check --db, and whether that server accepts connections", explained.Hint)
}
