package ledger_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// FuzzSend shows that a malformed transaction is an error of its own kind and leaves the ledger working.
func FuzzSend(f *testing.F) {
	chain := start(f)
	wire := chain.sign(chain.latest(), chain.gift(newKey(f).PublicKey(), sol))
	f.Add(wire)
	f.Add(wire[:70])
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, wire []byte) {
		_, err := chain.Simulate(wire, ledger.Simulation{ReplaceBlockhash: true})
		require.True(t, err == nil || isInvalid(err), "%v", err)
		_, err = chain.Send(wire)
		require.True(t, err == nil || isInvalid(err) || errors.As(err, new(*ledger.TransactionError)) ||
			errors.Is(err, ledger.ErrSignature), "%v", err)
	})
}

func isInvalid(err error) bool {
	return errors.As(err, new(*ledger.DecodeError)) || errors.As(err, new(*ledger.SanitizeError))
}
