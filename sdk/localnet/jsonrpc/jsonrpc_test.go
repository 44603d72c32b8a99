package jsonrpc_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/ws"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/jsonrpc"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

var compileOnce = sync.OnceValues(func() (*engine.Module, error) {
	cache, err := localnet.CacheFolder()
	if err != nil {
		return nil, err
	}
	return engine.Compile(context.Background(), cache+"/wasm")
})

const sol = solana.LAMPORTS_PER_SOL

// start returns a server whose blocks the test closes.
func start(t testing.TB) (*jsonrpc.Server, *ledger.Ledger) {
	t.Helper()
	module, err := compileOnce()
	require.NoError(t, err)
	chain, err := ledger.New(t.Context(), ledger.Options{Module: module})
	require.NoError(t, err)
	server := jsonrpc.New(chain)
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.NoError(t, chain.Close())
	})
	return server, chain
}

func call(t testing.TB, server http.Handler, body string) string {
	t.Helper()
	recorded := httptest.NewRecorder()
	server.ServeHTTP(recorded, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
	return strings.TrimSpace(recorded.Body.String())
}

func TestClientWithoutPort(t *testing.T) {
	server, chain := start(t)
	client := server.Client()
	payer := solana.NewWallet()
	signature, err := client.RequestAirdrop(t.Context(), payer.PublicKey(), 2*sol, rpc.CommitmentConfirmed)
	require.NoError(t, err)
	require.NoError(t, chain.NextBlock())
	statuses, err := client.GetSignatureStatuses(t.Context(), true, signature)
	require.NoError(t, err)
	require.Equal(t, rpc.ConfirmationStatusConfirmed, statuses.Value[0].ConfirmationStatus)

	latest, err := client.GetLatestBlockhash(t.Context(), rpc.CommitmentConfirmed)
	require.NoError(t, err)
	to := solana.NewWallet().PublicKey()
	transaction, err := solana.NewTransaction([]solana.Instruction{
		system.NewTransferInstruction(sol, payer.PublicKey(), to).Build(),
	}, latest.Value.Blockhash, solana.TransactionPayer(payer.PublicKey()))
	require.NoError(t, err)
	_, err = transaction.Sign(func(solana.PublicKey) *solana.PrivateKey { return &payer.PrivateKey })
	require.NoError(t, err)
	simulated, err := client.SimulateTransaction(t.Context(), transaction)
	require.NoError(t, err)
	require.Nil(t, simulated.Value.Err)
	require.EqualValues(t, 150, *simulated.Value.UnitsConsumed)
	sent, err := client.SendTransaction(t.Context(), transaction)
	require.NoError(t, err)
	require.NoError(t, chain.NextBlock())
	zero := uint64(0)
	got, err := client.GetTransaction(t.Context(), sent, &rpc.GetTransactionOpts{
		Commitment: rpc.CommitmentConfirmed, MaxSupportedTransactionVersion: &zero, Encoding: solana.EncodingBase64,
	})
	require.NoError(t, err)
	require.EqualValues(t, 5000, got.Meta.Fee)
	require.Equal(t, []uint64{2 * sol, 0, 1}, got.Meta.PreBalances)
	balance, err := client.GetBalance(t.Context(), to, rpc.CommitmentConfirmed)
	require.NoError(t, err)
	require.EqualValues(t, sol, balance.Value)
	_, err = client.SendTransaction(t.Context(), transaction)
	require.ErrorContains(t, err, "already been processed")
	history, err := client.GetSignaturesForAddressWithOpts(t.Context(), to,
		&rpc.GetSignaturesForAddressOpts{Commitment: rpc.CommitmentConfirmed})
	require.NoError(t, err)
	require.Len(t, history, 1)
}

func TestErrorsOfANode(t *testing.T) {
	server, _ := start(t)
	for name, test := range map[string]struct {
		body, want string
	}{
		"no JSON":      {`{`, `{"code":-32700,"message":"Parse error"}`},
		"no request":   {`1`, `{"code":-32700,"message":"Parse error"}`},
		"method":       {`{"jsonrpc":"2.0","id":1,"method":"getNothing"}`, `{"code":-32601,"message":"Method not found"}`},
		"no parameter": {`{"jsonrpc":"2.0","id":1,"method":"getBalance"}`, `"code":-32602`},
		"address":      {`{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["0"]}`, `"message":"Invalid param: Invalid"`},
		"block":        {`{"jsonrpc":"2.0","id":1,"method":"getBlock","params":[99]}`, `{"code":-32004,"message":"Block not available for slot 99"}`},
		"processed": {
			`{"jsonrpc":"2.0","id":1,"method":"getBlock","params":[1,{"commitment":"processed"}]}`,
			"Method does not support commitment below `confirmed`",
		},
		"context slot": {`{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[{"minContextSlot":9}]}`, `"code":-32016`},
	} {
		require.Contains(t, call(t, server, test.body), test.want, name)
	}
	require.JSONEq(t, `{"jsonrpc":"2.0","id":"a","result":null}`,
		call(t, server, `{"jsonrpc":"2.0","id":"a","method":"getTransaction","params":["`+solana.Signature{1}.String()+`"]}`))
	var batch []json.RawMessage
	answer := call(t, server, `[{"jsonrpc":"2.0","id":1,"method":"getHealth"},{"jsonrpc":"2.0","id":2,"method":"getSlot"}]`)
	require.NoError(t, json.Unmarshal([]byte(answer), &batch))
	require.Len(t, batch, 2)
}

func TestSubscriptions(t *testing.T) {
	server, chain := start(t)
	endpoints, err := server.Listen(0)
	require.NoError(t, err)
	client, err := ws.Connect(t.Context(), endpoints.WS)
	require.NoError(t, err)
	defer client.Close()
	to := solana.NewWallet().PublicKey()
	accounts, err := client.AccountSubscribe(to, rpc.CommitmentConfirmed)
	require.NoError(t, err)
	logs, err := client.LogsSubscribeMentions(to, rpc.CommitmentProcessed)
	require.NoError(t, err)
	slots, err := client.SlotSubscribe()
	require.NoError(t, err)
	// The server runs a connection's requests in order, so all three are active when a later request receives
	// a response.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for { // the client returns before the server registers the subscription
		require.NoError(t, chain.NextBlock())
		soon, stop := context.WithTimeout(ctx, 50*time.Millisecond)
		_, err := slots.Recv(soon)
		stop()
		if err == nil {
			break
		}
		require.NoError(t, ctx.Err())
	}
	executed, err := chain.Airdrop(to, sol)
	require.NoError(t, err)
	seen, err := logs.Recv(ctx)
	require.NoError(t, err)
	require.Equal(t, executed.Signature, seen.Value.Signature)
	require.NoError(t, chain.NextBlock())
	changed, err := accounts.Recv(ctx)
	require.NoError(t, err)
	require.EqualValues(t, sol, changed.Value.Lamports)
}

// FuzzRequest checks that requests never end the process, and that every response is JSON. Notifications
// receive none.
func FuzzRequest(f *testing.F) {
	server, _ := start(f)
	key := solana.SystemProgramID.String()
	for _, seed := range []string{
		`{`, `[]`, `null`, `[null]`, `{"method":"getSlot"}`, `{"method":"getSlot","id":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"getAccountInfo","params":["` + key + `",{"dataSlice":{"offset":18446744073709551615,"length":9}}]}`,
		`{"jsonrpc":"2.0","id":1,"method":"getProgramAccounts","params":["` + key + `",{"filters":[{"memcmp":{"offset":1,"bytes":"1"}}]}]}`,
		`{"jsonrpc":"2.0","id":1,"method":"getBlocks","params":[0,18446744073709551615]}`,
		`{"jsonrpc":"2.0","id":1,"method":"getBlocksWithLimit","params":[18446744073709551615,18446744073709551615,{"commitment":"confirmed"}]}`,
		`{"jsonrpc":"2.0","id":1,"method":"sendTransaction","params":["AQ==",{"encoding":"base64","skipPreflight":true}]}`,
		`{"jsonrpc":"2.0","id":1,"method":"simulateTransaction","params":["1",{"accounts":{"addresses":["1"]}}]}`,
		`{"jsonrpc":"2.0","id":1,"method":"getFeeForMessage","params":["gA=="]}`,
		`{"jsonrpc":"2.0","id":1,"method":"getTokenAccountsByOwner","params":["` + key + `",{"mint":"` + key + `"}]}`,
		`{"jsonrpc":"2.0","id":1,"method":"getSignaturesForAddress","params":["` + key + `",{"limit":1}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		response := call(t, server, body)
		require.True(t, response == "" || json.Valid([]byte(response)), response)
	})
}
