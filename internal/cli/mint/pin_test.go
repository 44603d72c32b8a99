package mint

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/token"
)

var (
	testMint = solana.PublicKey{7}
	genesis  = solana.Hash{1}
)

// nodeStating returns a client for a node that states these decimals for every mint, and this genesis hash.
func nodeStating(t *testing.T, decimals uint8, genesis solana.Hash) *haggle.Client {
	t.Helper()
	data := make([]byte, 82)
	data[44], data[45] = decimals, 1
	account := fmt.Sprintf(`{"lamports":1,"owner":%q,"data":[%q,"base64"],"executable":false,"rentEpoch":0}`,
		solana.TokenProgramID, base64.StdEncoding.EncodeToString(data))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage
			Method string
			Params []json.RawMessage
		}
		_ = json.NewDecoder(r.Body).Decode(&request)
		result := fmt.Sprintf("%q", genesis)
		if request.Method == "getMultipleAccounts" {
			var addresses []solana.PublicKey
			_ = json.Unmarshal(request.Params[0], &addresses)
			values := account
			if len(addresses) == 2 {
				values += ",null"
			}
			result = fmt.Sprintf(`{"context":{"slot":9},"value":[%s]}`, values)
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, result)
	}))
	t.Cleanup(server.Close)
	client, err := haggle.NewClient(haggle.Config{Endpoint: server.URL})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// A node that states 9 decimals instead of 6 would turn a deposit of 0.02 tokens into 20.
func TestDecimalsAreThoseOfTheFirstUse(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	honest := nodeStating(t, 6, genesis)
	first, err := Read(t.Context(), honest, testMint)
	require.NoError(t, err)
	require.EqualValues(t, 6, first.Decimals)
	require.NoError(t, first.Pin(t.Context(), honest))
	require.NoError(t, first.Pin(t.Context(), honest), "a second use")

	for name, lying := range map[string]*haggle.Client{
		"on the same cluster": nodeStating(t, 9, genesis), "that claims another cluster": nodeStating(t, 9, solana.Hash{2}),
	} {
		_, err := Read(t.Context(), lying, testMint)
		var differs *token.DecimalsError
		require.ErrorAs(t, err, &differs, name)
		require.EqualValues(t, 9, differs.Decimals)
		require.EqualValues(t, 6, differs.Expected)
		path, err := pinPath(testMint)
		require.NoError(t, err)
		require.Contains(t, differs.Reference, path)
		require.Contains(t, differs.Reference, genesis.String())
		require.Equal(t, exitcode.Refused, exitcode.KindOf(differs))
	}
	_, err = Read(t.Context(), nodeStating(t, 6, solana.Hash{2}), testMint)
	require.NoError(t, err)
}

func TestFirstOfSimultaneousPinsCounts(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	client := nodeStating(t, 6, genesis)
	var lock sync.Mutex
	var writing sync.WaitGroup
	agreed := map[uint8]int{}
	for i := range 20 {
		writing.Go(func() {
			m := Mint{Address: testMint, Decimals: uint8(6 + i%2)}
			if m.Pin(t.Context(), client) == nil {
				lock.Lock()
				defer lock.Unlock()
				agreed[m.Decimals]++
			}
		})
	}
	writing.Wait()
	require.Len(t, agreed, 1, "both decimals were accepted")
	path, err := pinPath(testMint)
	require.NoError(t, err)
	entries, err := os.ReadDir(path[:len(path)-len(testMint.String()+".json")])
	require.NoError(t, err)
	require.Len(t, entries, 1, "temporary files are left")
}

func TestUnusablePinsAreErrors(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	client := nodeStating(t, 6, genesis)
	m := Mint{Address: testMint, Decimals: 6}
	require.NoError(t, m.Pin(t.Context(), client))
	path, err := pinPath(testMint)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	require.ErrorContains(t, m.Pin(t.Context(), client), path)

	require.NoError(t, os.RemoveAll(state))
	require.NoError(t, os.WriteFile(state, nil, 0o600))
	require.ErrorContains(t, m.Pin(t.Context(), client), path)
}

func TestWellKnownMintsAreNotPinned(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	require.NoError(t, Mint{Address: token.USDC, Decimals: 6}.Pin(t.Context(), nil))
	_, err := Read(t.Context(), nodeStating(t, 4, genesis), token.USDC)
	require.ErrorContains(t, err, "the table of well-known mints (USDC) states 6")
}
