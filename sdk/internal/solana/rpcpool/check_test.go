package rpcpool

import (
	"encoding/base64"
	"fmt"
	"slices"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompressedDataIsFound(t *testing.T) {
	for _, encoding := range []string{`base64+zstd`, `base64\u002bzstd`, `base64+\u007astd`} {
		require.ErrorIs(t, refuseCompressed([]byte(`{"value":["KLUv/QQAAQAA","`+encoding+`"]}`)), ErrCompressed)
	}
	require.NoError(t, refuseCompressed([]byte(`{"logs":["Program log: base64+zstd is a name", "\u0001"]}`)))
}

func TestAnswersAboutSomethingElseAreRefused(t *testing.T) {
	asked, other := solana.Signature{1}, solana.Signature{2}
	encoded := func(signature solana.Signature) string {
		return base64.StdEncoding.EncodeToString(slices.Concat([]byte{1}, signature[:], make([]byte, 40)))
	}
	two := []solana.PublicKey{{1}, {2}}
	cases := []struct {
		method string
		param  any
		answer string
		fits   bool
	}{
		{"getTransaction", asked, fmt.Sprintf(`{"slot":1,"transaction":[%q,"base64"]}`, encoded(asked)), true},
		{"getTransaction", asked, fmt.Sprintf(`{"slot":1,"transaction":[%q,"base64"]}`, encoded(other)), false},
		{"getTransaction", asked, fmt.Sprintf(`{"slot":1,"transaction":{"signatures":[%q]}}`, asked), true},
		{"getTransaction", asked.String(), fmt.Sprintf(`{"slot":1,"transaction":{"signatures":[%q]}}`, other), false},
		{"getTransaction", asked, `null`, true},
		{"getTransaction", asked, `{"transaction":["%%%","base64"]}`, true},
		{"getMultipleAccounts", two, `{"value":[null,null]}`, true},
		{"getMultipleAccounts", two, `{"value":[null]}`, false},
		{"getMultipleAccounts", two, `{"value":[null,null,null]}`, false},
		{"getSignatureStatuses", []solana.Signature{asked}, `{"value":[]}`, false},
		{"getSignatureStatuses", []solana.Signature{asked}, `{"value":[null]}`, true},
		{"sendTransaction", encoded(asked), fmt.Sprintf("%q", asked), true},
		{"sendTransaction", encoded(asked), fmt.Sprintf("%q", other), false},
		{"sendTransaction", encoded(asked), `null`, false},
		{"getBalance", "address", `{"value":1}`, true},
		{"getBalance", "address", ` null`, false},
		{"getLatestBlockhash", nil, `null`, false},
	}
	for _, c := range cases {
		err := newRequest(c.method, []any{c.param, rpc.M{"encoding": solana.EncodingBase64}}, nil).check([]byte(c.answer))
		if c.fits {
			assert.NoError(t, err, "%s %s", c.method, c.answer)
		} else {
			assert.ErrorIs(t, err, errOther, "%s %s", c.method, c.answer)
		}
	}
}

func TestTransactionInBase58IsNotChecked(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString(slices.Concat([]byte{1}, make([]byte, 100)))
	for _, params := range [][]any{{encoded}, {encoded, rpc.M{"encoding": solana.EncodingBase58}}, {encoded, rpc.M{}}} {
		require.NoError(t, newRequest("sendTransaction", params, nil).check([]byte(`"taken"`)))
	}
}

func TestResultNeedsADestination(t *testing.T) {
	pool := newFakePool(t, nil, &fakeNode{slot: 7})
	for _, out := range []any{7, (*int)(nil)} {
		require.Error(t, pool.Call(t.Context(), out, "getSlot", nil))
		require.Error(t, pool.Call(t.Context(), out, "sendTransaction", nil))
	}
	require.NoError(t, pool.Call(t.Context(), nil, "getSlot", nil))
}
