package wait

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPauseEndsWithItsTimeOrItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		require.NoError(t, For(t.Context(), time.Minute))
		require.Equal(t, time.Minute, time.Since(began))
		require.NoError(t, For(t.Context(), 0))
		require.NoError(t, For(t.Context(), -time.Hour))

		stopped := errors.New("stopped")
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(stopped) })
		require.ErrorIs(t, For(ctx, time.Hour), stopped)
		require.ErrorIs(t, For(ctx, 0), stopped)
		require.Equal(t, time.Minute+time.Second, time.Since(began))
	})
}
