package load

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestOutcomes(t *testing.T) {
	executed := solana.Signature{1}
	for _, example := range []struct {
		err       error
		outcome   string
		signature solana.Signature
		repeat    bool
	}{
		{nil, "confirmed", solana.Signature{}, true},
		{fmt.Errorf("%w: x", transaction.ErrExpired), "expired", solana.Signature{}, true},
		{&transaction.UnknownOutcomeError{Signature: executed, Cause: context.Canceled}, "unknown", executed, false},
		{&protocol.ProgramError{Name: "NotYourTurn"}, "refused in the simulation: NotYourTurn",
			solana.Signature{}, false},
		{&protocol.ProgramError{Name: "StaleState", Signature: executed}, "failed on chain: StaleState",
			executed, false},
		{&transaction.Error{Reason: "AccountInUse"}, "refused in the simulation: AccountInUse",
			solana.Signature{}, true},
		{&transaction.Error{Reason: "Custom", Signature: executed}, "failed on chain: Custom", executed,
			false},
		{&transaction.NodeError{Method: "getAccountInfo", Code: 429},
			"not sent: getAccountInfo answered with error 429", solana.Signature{}, true},
		{errors.New("no answer"), "not sent: no answer", solana.Signature{}, true},
	} {
		require.Equal(t, example.outcome, outcomeOf(example.err))
		require.Equal(t, example.signature, signatureOf(example.err))
		require.Equal(t, example.repeat, canRepeat(example.err), "%v", example.err)
	}
}
