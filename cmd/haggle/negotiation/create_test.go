package negotiation

import (
	"context"
	"errors"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestUnknownCreationHintsAtItsRepetition(t *testing.T) {
	address := solana.PublicKey{7}
	err := withKey(&transaction.UnknownOutcomeError{Cause: context.Canceled}, address, "order-42")
	require.Equal(t, exitcode.Unknown, exitcode.KindOf(err))
	var reported *exitcode.Error
	require.ErrorAs(t, err, &reported)
	require.Contains(t, reported.Hint, address.String())
	require.Contains(t, reported.Hint, `--key "order-42"`)
	other := errors.New("other")
	require.Equal(t, other, withKey(other, address, "order-42"))
}

func TestFailedCreationHintsAtNoKey(t *testing.T) {
	for _, kind := range []exitcode.Kind{exitcode.Interrupted, exitcode.Network, exitcode.Expired} {
		err := &exitcode.Error{Kind: kind, Err: errors.New("not sent")}
		require.Equal(t, error(err), withKey(err, solana.PublicKey{7}, "order-42"))
	}
}
