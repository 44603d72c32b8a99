package agent

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
)

// ServeRPC starts a scripted node and returns the URL. The function returns a request's result as JSON.
func ServeRPC(
	t *testing.T, answer func(ctx context.Context, method string, params []json.RawMessage) string,
) string {
	t.Helper()
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage
			Method string
			Params []json.RawMessage
		}
		if json.NewDecoder(r.Body).Decode(&request) != nil {
			return
		}
		result := answer(r.Context(), request.Method, request.Params)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":`, request.ID)
		_, _ = io.WriteString(w, result)
		_, _ = io.WriteString(w, `}`)
	}))
	t.Cleanup(node.Close)
	return node.URL
}

// AccountsJSON returns the result of getMultipleAccounts. The function returns an account as JSON, or an
// empty string if it does not exist.
func AccountsJSON(params []json.RawMessage, account func(address string) string) string {
	var addresses []string
	_ = json.Unmarshal(params[0], &addresses)
	accounts := make([]string, len(addresses))
	for i, address := range addresses {
		if accounts[i] = account(address); accounts[i] == "" {
			accounts[i] = "null"
		}
	}
	return fmt.Sprintf(`{"context":{"slot":1},"value":[%s]}`, strings.Join(accounts, ","))
}

// AccountJSON returns an account as JSON.
func AccountJSON(owner solana.PublicKey, data []byte) string {
	return fmt.Sprintf(
		`{"data":[%q,"base64"],"executable":false,"lamports":1000000,"owner":%q,"rentEpoch":0,"space":%d}`,
		base64.StdEncoding.EncodeToString(data), owner, len(data))
}

// ClockJSON returns the account of the chain's clock as JSON, for a time in Unix seconds.
func ClockJSON(now int64) string {
	data := make([]byte, 40)
	binary.LittleEndian.PutUint64(data[32:], uint64(now))
	return AccountJSON(solana.MustPublicKeyFromBase58("Sysvar1111111111111111111111111111111111111"), data)
}
