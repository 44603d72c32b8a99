package haggle

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestWebSocketEndpointIsDerivedAsSolanasToolsDo(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://127.0.0.1:8899":            "ws://127.0.0.1:8900",
		"http://[::1]:8899":                "ws://[::1]:8900",
		"https://api.devnet.solana.com":    "wss://api.devnet.solana.com",
		"https://rpc.example/v1?api-key=1": "wss://rpc.example/v1?api-key=1",
	} {
		client, err := NewClient(Config{Endpoint: endpoint})
		require.NoError(t, err)
		assert.Equal(t, want, client.wsEndpoint)
	}
	client, err := NewClient(Config{Endpoint: "http://127.0.0.1:8899", WSEndpoint: "ws://other:1"})
	require.NoError(t, err)
	assert.Equal(t, "ws://other:1", client.wsEndpoint)

	_, err = NewClient(Config{Endpoint: "http://127.0.0.1:65535"})
	require.ErrorContains(t, err, "no port after 65535")
	_, err = NewClient(Config{Endpoint: "http://127.0.0.1:65535", WSEndpoint: "ws://other:1"})
	require.NoError(t, err)
}

func TestConfigErrorsDoNotDiscloseTheEndpoint(t *testing.T) {
	for _, config := range []Config{
		{Endpoint: "ftp://user:sekrit@rpc.example/sekrit?api-key=sekrit"}, {Endpoint: "http://sekrit\x00"},
		{Endpoint: "http://rpc.example:99999/sekrit"},
		{Endpoint: "http://rpc.example:65535/?api-key=sekrit"},
		{Endpoint: "http://rpc.example", WSEndpoint: "http://rpc.example/?api-key=sekrit"},
	} {
		_, err := NewClient(config)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "sekrit")
	}
}

func TestInvalidConfigsAreRefused(t *testing.T) {
	for _, config := range []Config{
		{}, {Endpoint: "localhost:8899"}, {Endpoint: "ws://localhost"}, {Endpoint: "http://"},
		{Endpoint: "http://\x00"},
		{Endpoint: "http://localhost", Commitment: rpc.CommitmentProcessed},
		{Endpoint: "http://localhost", Commitment: "sure"},
		{Endpoint: "http://localhost", WSEndpoint: "http://localhost"},
	} {
		_, err := NewClient(config)
		assert.Error(t, err, "%+v", config)
	}
}

func TestWatchAfterCloseFails(t *testing.T) {
	client, err := NewClient(Config{Endpoint: "http://localhost:1"})
	require.NoError(t, err)
	require.NoError(t, client.Close())
	require.NoError(t, client.Close())
	_, err = client.Watch(t.Context(), protocol.ProgramID)
	require.ErrorIs(t, err, ErrClientClosed)
}

func TestMissingArgumentsAreNamed(t *testing.T) {
	client, err := NewClient(Config{Endpoint: "http://localhost:1"})
	require.NoError(t, err)
	snapshot := &Snapshot{Address: solana.PublicKey{1}, Data: make([]byte, protocol.NegotiationSize)}
	snapshot.CurrentOfferAmount = 3

	_, err = client.At(nil).SubmitOffer(protocol.ProgramID, Offer{}).Build(t.Context())
	assert.ErrorContains(t, err, "snapshot not set")
	_, err = client.Negotiation(snapshot.Address).AcceptOffer(protocol.ProgramID, 0).Build(t.Context())
	assert.ErrorContains(t, err, "snapshot or price not set")
	_, err = client.Negotiation(snapshot.Address).AcceptInvitation(protocol.ProgramID, [32]byte{}, testDecimals,
		Deposit{}).Build(t.Context())
	assert.ErrorContains(t, err, "snapshot or terms hash not set")
	_, err = client.At(snapshot).AcceptOffer(protocol.ProgramID, 4).Build(t.Context())
	assert.ErrorIs(t, err, ErrNotAsExpected)
	_, err = client.At(snapshot).AcceptInvitation(protocol.ProgramID, [32]byte{1}, testDecimals,
		Deposit{}).Build(t.Context())
	assert.ErrorIs(t, err, ErrNotAsExpected)
	_, err = client.At(&Snapshot{Address: protocol.ProgramID}).AcceptInvitation(protocol.ProgramID,
		[32]byte{}, testDecimals, Deposit{}).Build(t.Context())
	assert.ErrorIs(t, err, ErrNotAsExpected)
	_, err = client.At(snapshot).Expire(solana.PublicKey{}).Build(t.Context())
	assert.ErrorContains(t, err, "signer not set")
	_, err = client.NewAction("pay", protocol.ProgramID).Build(t.Context())
	assert.ErrorContains(t, err, "no instructions are given")
}

func TestOfferNamesItsSnapshot(t *testing.T) {
	client, err := NewClient(Config{Endpoint: "http://localhost:1"})
	require.NoError(t, err)
	snapshot := &Snapshot{Address: solana.PublicKey{1}}
	snapshot.CurrentRound = 4
	me := newKeypair(t).PublicKey()
	action, err := client.At(snapshot).SubmitOffer(me,
		Offer{Amount: 7, Metadata: protocol.Terms{Quantity: 2}.Metadata()}).Build(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "submit_offer", action.Name)
	assert.Equal(t, me, action.Payer)
	assert.Equal(t, snapshot.Address, action.Negotiation)
	require.Len(t, action.Instructions, 1)
	data, err := action.Instructions[0].Data()
	require.NoError(t, err)
	var built protocol.SubmitOffer
	require.NoError(t, built.Decode(action.Instructions[0].Accounts(), data))
	assert.Equal(t, protocol.SubmitOffer{Offerer: me, Negotiation: snapshot.Address, ExpectedRound: 4,
		Amount: 7, Metadata: protocol.Terms{Quantity: 2}.Metadata()}, built)
}
