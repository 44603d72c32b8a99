package proxy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func accountJSON(owner solana.PublicKey, data []byte) string {
	return fmt.Sprintf(`{"data":[%q,"base64"],"lamports":18446744073709551615,"owner":%q}`,
		base64.StdEncoding.EncodeToString(data), owner)
}

func dataOf(t *testing.T, account any) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(account.(map[string]any)["data"].([]any)[0].(string))
	require.NoError(t, err)
	return data
}

// TestLiesAreToldAndCounted sends every request affected by a lie to a proxy with only this lie. A second
// proxy with all other lies must leave the response unchanged.
func TestLiesAreToldAndCounted(t *testing.T) {
	mint := make([]byte, mintSize)
	mint[mintDecimalsAt] = 6
	open := protocol.Negotiation{Status: protocol.NegotiationStatusProposed, EscrowAmount: 7, Version: protocol.NegotiationVersion}
	ended := open
	ended.Status = protocol.NegotiationStatusRejected
	config := protocol.ProtocolConfig{DefaultDecayRateBps: 200, DefaultProtocolFeeBps: 50, DefaultMaxRounds: 10, DefaultResponseWindow: 300}
	offer := protocol.OfferSubmitted{Amount: 3, Round: 1, EffectiveEscrow: 7}
	settled := func(t *testing.T, account any) {
		var n protocol.Negotiation
		require.NoError(t, n.Decode(dataOf(t, account)))
		require.Equal(t, protocol.NegotiationStatusSettled, n.Status)
		require.EqualValues(t, 7, n.PaidGross)
	}
	value := func(result any) any { return result.(map[string]any)["value"] }
	for _, c := range []struct {
		lie            Lie
		method, result string
		check          func(t *testing.T, result any)
	}{
		{LieHeight, "getBlockHeight", `5`, func(t *testing.T, result any) { require.EqualValues(t, farAhead, result) }},
		{LieHeight, "getEpochInfo", `{"blockHeight":5,"absoluteSlot":6}`, func(t *testing.T, result any) {
			require.Equal(t, map[string]any{"blockHeight": float64(farAhead), "absoluteSlot": 6.0}, result)
		}},
		{LieValidHeight, "getLatestBlockhash", `{"value":{"blockhash":"x","lastValidBlockHeight":500}}`, func(t *testing.T, result any) {
			require.Equal(t, map[string]any{"blockhash": "x", "lastValidBlockHeight": 1.0}, value(result))
		}},
		{LieBlockhash, "isBlockhashValid", `{"value":true}`, func(t *testing.T, result any) { require.Equal(t, false, value(result)) }},
		{LieStatus, "getSignatureStatuses", `{"context":{"slot":9},"value":[null]}`, func(t *testing.T, result any) {
			status := value(result).([]any)[0].(map[string]any)
			require.Equal(t, "finalized", status["confirmationStatus"])
			require.Equal(t, 9.0, status["slot"])
		}},
		{LieDecimals, "getAccountInfo", `{"value":` + accountJSON(solana.TokenProgramID, mint) + `}`, func(t *testing.T, result any) {
			require.EqualValues(t, 9, dataOf(t, value(result))[mintDecimalsAt])
		}},
		{LieSettled, "getMultipleAccounts", `{"value":[null,` + accountJSON(protocol.ProgramID, open.Encode()) + `]}`, func(t *testing.T, result any) {
			settled(t, value(result).([]any)[1])
		}},
		{LieSettled, "getProgramAccounts", `[{"account":` + accountJSON(protocol.ProgramID, open.Encode()) + `}]`, func(t *testing.T, result any) {
			settled(t, result.([]any)[0].(map[string]any)["account"])
		}},
		{LieEvent, "getTransaction", `{"meta":{"logMessages":["Program x invoke [1]",` + strconv.Quote(eventLine+base64.StdEncoding.EncodeToString(offer.AppendTo(nil))) + `]}}`,
			func(t *testing.T, result any) {
				line := result.(map[string]any)["meta"].(map[string]any)["logMessages"].([]any)[1].(string)
				data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(line, eventLine))
				require.NoError(t, err)
				var event protocol.NegotiationSettled
				require.NoError(t, event.Decode(data))
				require.EqualValues(t, 7, event.SettledAmount)
			}},
		{LieTerms, "getAccountInfo", `{"value":` + accountJSON(protocol.ProgramID, config.Encode()) + `}`, func(t *testing.T, result any) {
			var told protocol.ProtocolConfig
			require.NoError(t, told.Decode(dataOf(t, value(result))))
			require.EqualValues(t, protocol.MaxDecayRateBps, told.DefaultDecayRateBps)
			require.EqualValues(t, protocol.MinRounds, told.DefaultMaxRounds)
		}},
	} {
		t.Run(string(c.lie)+" in "+c.method, func(t *testing.T) {
			require.Equal(t, map[Lie]int{c.lie: 1}, asked(t, []Lie{c.lie}, c.method, c.result, c.check))
			others := []Lie{}
			for _, lie := range Lies() {
				if lie != c.lie {
					others = append(others, lie)
				}
			}
			require.Empty(t, asked(t, others, c.method, c.result, func(t *testing.T, result any) {
				plain, err := json.Marshal(result)
				require.NoError(t, err)
				require.JSONEq(t, c.result, string(plain))
			}))
		})
	}
	for _, unchanged := range []struct{ method, result string }{
		{"getAccountInfo", `{"value":` + accountJSON(protocol.ProgramID, ended.Encode()) + `}`},
		{"getAccountInfo", `{"value":null}`}, {"getSlot", `5`}, {"isBlockhashValid", `{"value":false}`},
	} {
		require.Empty(t, asked(t, Lies(), unchanged.method, unchanged.result, func(*testing.T, any) {}))
	}
}

// asked returns the lies that a proxy counts for a request.
func asked(t *testing.T, lies []Lie, method, result string, check func(*testing.T, any)) map[Lie]int {
	t.Helper()
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":`+result+`}`)
	}))
	defer node.Close()
	p, err := Start(Options{RPCURL: node.URL, WSURL: "ws" + strings.TrimPrefix(node.URL, "http"), Lies: lies})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answered, err := client.Post(p.URL(), "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`))
	require.NoError(t, err)
	defer answered.Body.Close()
	var envelope struct{ Result any }
	require.NoError(t, json.NewDecoder(answered.Body).Decode(&envelope))
	check(t, envelope.Result)
	return p.Counts().Lies
}

func TestUnknownLieIsAnError(t *testing.T) {
	_, err := Start(Options{RPCURL: "http://a", WSURL: "ws://a", Lies: []Lie{"no lie"}})
	require.ErrorContains(t, err, "no lie")
}
