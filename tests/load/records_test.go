package load

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestQuantile(t *testing.T) {
	var hundredOnes latencies
	for second := range 100 {
		hundredOnes = append(hundredOnes, time.Duration(second+1)*time.Second)
	}
	require.Equal(t, 50*time.Second, hundredOnes.quantile(50))
	require.Equal(t, 99*time.Second, hundredOnes.quantile(99))
	require.Equal(t, 100*time.Second, hundredOnes.quantile(100))
	require.Equal(t, time.Second, hundredOnes.quantile(0))
	require.Equal(t, 2*time.Second, latencies{time.Second, 2 * time.Second, 3 * time.Second}.quantile(50))
	require.Equal(t, time.Second, latencies{time.Second}.quantile(99))
	require.Zero(t, latencies(nil).quantile(50))
}

func TestOutcomes(t *testing.T) {
	executed := solana.Signature{1}
	for _, example := range []struct {
		err       error
		outcome   string
		signature solana.Signature
		repeat    bool
	}{
		{nil, "confirmed", solana.Signature{}, true},
		{fmt.Errorf("%w: x", haggle.ErrTransactionExpired), "expired", solana.Signature{}, true},
		{&haggle.UnknownOutcome{Signature: executed, Cause: context.Canceled}, "unknown", executed, false},
		{&protocol.ProgramError{Name: "NotYourTurn"}, "refused in the simulation: NotYourTurn", solana.Signature{}, false},
		{&protocol.ProgramError{Name: "StaleState", Signature: executed}, "failed on chain: StaleState", executed, false},
		{&haggle.TransactionError{Reason: "AccountInUse"}, "refused in the simulation: AccountInUse", solana.Signature{}, true},
		{&haggle.TransactionError{Reason: "Custom", Signature: executed}, "failed on chain: Custom", executed, false},
		{&haggle.NodeError{Method: "getAccountInfo", Code: 429}, "not sent: getAccountInfo answered with error 429", solana.Signature{}, true},
		{errors.New("no answer"), "not sent: no answer", solana.Signature{}, true},
	} {
		require.Equal(t, example.outcome, outcomeOf(example.err))
		require.Equal(t, example.signature, signatureOf(example.err))
		require.Equal(t, example.repeat, canRepeat(example.err), "%v", example.err)
	}
}

func TestGrouped(t *testing.T) {
	for number, want := range map[int]string{0: "0", 999: "999", 1_000: "1,000", 1_234_567: "1,234,567"} {
		require.Equal(t, want, grouped(number))
	}
}
