package negotiation

import (
	"context"
	"errors"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

func TestACreationOfUnknownOutcomeSaysHowToRepeatIt(t *testing.T) {
	address := solana.PublicKey{7}
	err := withSession(&haggle.UnknownOutcome{Cause: context.Canceled}, address, 42)
	require.Equal(t, exitcode.Unknown, exitcode.KindOf(err))
	var told *exitcode.Error
	require.ErrorAs(t, err, &told)
	require.Contains(t, told.Hint, address.String())
	require.Contains(t, told.Hint, "--session 42")
	other := errors.New("other")
	require.Equal(t, other, withSession(other, address, 42))
}
