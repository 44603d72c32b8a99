package admin

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// clientOf returns a client whose node returns the protocol's configuration.
func clientOf(t *testing.T, config *protocol.ProtocolConfig) *haggle.Client {
	t.Helper()
	account := fmt.Sprintf(`{"lamports":5000,"owner":%q,"executable":false,"rentEpoch":0,"data":[%q,"base64"]}`,
		protocol.ProgramID, base64.StdEncoding.EncodeToString(config.Encode()))
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&request))
		w.Header().Set("Content-Type", "application/json")
		if request.Method == "getMultipleAccounts" {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"context":{"slot":7},"value":[%s]}}`,
				request.ID, account)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`,
			request.ID)
	}))
	t.Cleanup(node.Close)
	client, err := haggle.NewClient(haggle.Config{Endpoint: node.URL})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func newKey(t *testing.T) solana.PublicKey {
	t.Helper()
	key, err := solana.NewRandomPrivateKey()
	require.NoError(t, err)
	return key.PublicKey()
}

// only returns the action's only instruction, decoded.
func only[T any, P interface {
	*T
	protocol.AnyInstruction
}](t *testing.T, action *haggle.Action) T {
	t.Helper()
	require.Len(t, action.Instructions, 1)
	data, err := action.Instructions[0].Data()
	require.NoError(t, err)
	var decoded T
	require.NoError(t, P(&decoded).Decode(action.Instructions[0].Accounts(), data))
	assert.Equal(t, P(&decoded).InstructionName(), action.Name)
	return decoded
}

func TestInitializeConfigNeedsATreasury(t *testing.T) {
	_, err := InitializeConfig(clientOf(t, new(protocol.ProtocolConfig)),
		InitializeConfigRequest{Authority: newKey(t)})
	require.ErrorContains(t, err, "Treasury")
}

func TestUpdateConfigChangesOnlyTheFieldsThatAreSet(t *testing.T) {
	address, _, err := protocol.FindConfigAddress()
	require.NoError(t, err)
	authority := newKey(t)
	now := protocol.UpdateConfig{
		Authority: authority, Config: address, Treasury: solana.PublicKey{5}, DefaultDecayRateBps: 11,
		DefaultResponseWindow: 90,
		DefaultProtocolFeeBps: 33, DefaultMaxRounds: 4,
	}
	client := clientOf(t, &protocol.ProtocolConfig{
		Treasury: now.Treasury, DefaultDecayRateBps: 11, DefaultResponseWindow: 90, DefaultProtocolFeeBps: 33,
		DefaultMaxRounds: 4,
	})
	for name, c := range map[string]struct {
		request UpdateConfigRequest
		change  func(*protocol.UpdateConfig)
	}{
		"treasury": {UpdateConfigRequest{Treasury: solana.PublicKey{6}},
			func(v *protocol.UpdateConfig) { v.Treasury = solana.PublicKey{6} }},
		"decay": {UpdateConfigRequest{DecayRateBps: new(uint16(0))},
			func(v *protocol.UpdateConfig) { v.DefaultDecayRateBps = 0 }},
		"window": {UpdateConfigRequest{ResponseWindow: time.Minute},
			func(v *protocol.UpdateConfig) { v.DefaultResponseWindow = 60 }},
		"fee": {UpdateConfigRequest{ProtocolFeeBps: new(uint16(0))},
			func(v *protocol.UpdateConfig) { v.DefaultProtocolFeeBps = 0 }},
		"rounds": {UpdateConfigRequest{MaxRounds: 20},
			func(v *protocol.UpdateConfig) { v.DefaultMaxRounds = 20 }},
		"as it was": {UpdateConfigRequest{MaxRounds: 4}, func(*protocol.UpdateConfig) {}},
		"everything": {UpdateConfigRequest{solana.PublicKey{}, solana.PublicKey{9}, new(uint16(1)), time.Hour,
			new(uint16(2)), 3}, func(v *protocol.UpdateConfig) {
			*v = protocol.UpdateConfig{
				Authority: authority, Config: address, Treasury: solana.PublicKey{9},
				DefaultDecayRateBps: 1, DefaultResponseWindow: 3_600, DefaultProtocolFeeBps: 2,
				DefaultMaxRounds: 3,
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			want := now
			c.change(&want)
			c.request.Authority = authority
			action, err := UpdateConfig(t.Context(), client, c.request)
			require.NoError(t, err)
			assert.Equal(t, want, only[protocol.UpdateConfig](t, action))
			assert.True(t, action.Negotiation.IsZero())
		})
	}
	_, err = UpdateConfig(t.Context(), client, UpdateConfigRequest{Authority: authority})
	require.ErrorContains(t, err, "no value changes")
}

func TestAuthorityAndPause(t *testing.T) {
	client := clientOf(t, new(protocol.ProtocolConfig))
	address, _, err := protocol.FindConfigAddress()
	require.NoError(t, err)
	authority, next := newKey(t), newKey(t)
	for _, paused := range []bool{true, false} {
		action, err := SetPaused(client, SetPausedRequest{Authority: authority, Paused: paused})
		require.NoError(t, err)
		assert.Equal(t, protocol.SetPaused{Authority: authority, Config: address, Paused: paused},
			only[protocol.SetPaused](t, action))
	}
	for _, proposed := range []solana.PublicKey{next, {}} {
		action, err := ProposeAuthority(client,
			ProposeAuthorityRequest{Authority: authority, NewAuthority: proposed})
		require.NoError(t, err)
		assert.Equal(t, protocol.ProposeAuthority{Authority: authority, Config: address,
			NewAuthority: proposed}, only[protocol.ProposeAuthority](t, action))
	}
	action, err := AcceptAuthority(client, AcceptAuthorityRequest{Authority: next})
	require.NoError(t, err)
	assert.Equal(t, protocol.AcceptAuthority{Authority: next, Config: address},
		only[protocol.AcceptAuthority](t, action))
	assert.Equal(t, next, action.Payer)
}
