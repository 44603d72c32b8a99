package haggle

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// mintWith returns a stored mint with these decimals.
func mintWith(decimals uint8) any {
	data := mintData()
	data[mintOffsetDecimals] = decimals
	return storedAccount(solana.TokenProgramID, data)
}

func TestOtherDecimalsThanTheMintsAreRefusedBeforeSigning(t *testing.T) {
	a := newBuyer(t)
	for _, decimals := range []uint8{0, testDecimals - 1, testDecimals + 1} {
		_, err := a.create(t, func(r *CreateRequest) { r.Decimals = decimals })
		var wrong *token.DecimalsError
		require.ErrorAs(t, err, &wrong)
		assert.Equal(t, token.DecimalsError{Mint: testMint, Source: "the caller", Decimals: decimals,
			Reference: "the node", Expected: testDecimals}, *wrong)
	}
	created, err := a.create(t, nil)
	require.NoError(t, err)
	assert.EqualValues(t, testDecimals, lastInstruction[protocol.CreateNegotiation](t, created).Params.Decimals)

	client, n, _ := bonded(t, nil)
	n.Status, n.BondState, n.BondRequired = protocol.NegotiationStatusCreated, protocol.BondStateNone, 0
	n.Data = n.Encode()
	for _, decimals := range []uint8{0, testDecimals - 1, testDecimals + 1} {
		_, err := client.At(n).AcceptInvitation(n.Seller, [32]byte{}, decimals, Deposit{}).Build(t.Context())
		var wrong *token.DecimalsError
		require.ErrorAs(t, err, &wrong)
		assert.Equal(t, decimals, wrong.Decimals)
	}
}

// nodesStating returns a client of nodes that state these decimals for the mint. A negative number is a node
// that does not know the mint.
func nodesStating(t *testing.T, mint solana.PublicKey, decimals ...int) *Client {
	t.Helper()
	client, _, _ := newScripted(t, nil)
	var played []*scriptedNode
	for _, stated := range decimals {
		_, scripted, _ := newScripted(t, map[string]func(int) (any, error){
			"getGenesisHash": always(solana.Hash{5}.String()),
		})
		scripted.accounts = map[solana.PublicKey]any{mint: mintWith(uint8(max(stated, 0)))}
		if stated < 0 {
			scripted.accounts = map[solana.PublicKey]any{}
		}
		played = append(played, scripted)
	}
	switch len(played) {
	case 1:
		client.useNodes(played[0])
	case 2:
		client.useNodes(played[0], played[1])
	case 3:
		client.useNodes(played[0], played[1], played[2])
	}
	return client
}

func TestNodesThatContradictEachOtherAboutDecimalsAreNamed(t *testing.T) {
	for _, stated := range [][]int{{4, 6}, {6, 4}, {6, 6, 4}, {4, 6, 6}, {6, 4, -1}} {
		client := nodesStating(t, testMint, stated...)
		for range 2 { // the contradiction is not forgotten
			_, err := client.GetMint(t.Context(), testMint)
			var wrong *token.DecimalsError
			require.ErrorAs(t, err, &wrong, stated)
			assert.Contains(t, wrong.Source, "node ")
			assert.Contains(t, wrong.Reference, "node ")
			assert.ElementsMatch(t, []uint8{4, 6}, []uint8{wrong.Decimals, wrong.Expected})
		}
	}
	for _, agreed := range [][]int{{6}, {6, 6}, {6, -1}, {6, 6, 6}} {
		mint, err := nodesStating(t, testMint, agreed...).GetMint(t.Context(), testMint)
		require.NoError(t, err)
		assert.EqualValues(t, 6, mint.Decimals)
	}
}

func TestNodeThatContradictsAWellKnownMintIsNamed(t *testing.T) {
	for _, stated := range [][]int{{4}, {6, 4}, {4, 6}, {4, 4}} {
		_, err := nodesStating(t, token.USDC, stated...).GetMint(t.Context(), token.USDC)
		var wrong *token.DecimalsError
		require.ErrorAs(t, err, &wrong)
		assert.EqualValues(t, 4, wrong.Decimals)
		assert.EqualValues(t, 6, wrong.Expected)
		assert.Contains(t, wrong.Source, "node ")
		assert.Equal(t, "the table of well-known mints (USDC)", wrong.Reference)
	}
	_, err := nodesStating(t, token.USDC, 6, 6).GetMint(t.Context(), token.USDC)
	require.NoError(t, err)
}

// A payout is base units, so a node that misstates decimals must not delay it.
func TestMisstatedDecimalsDoNotBlockPayouts(t *testing.T) {
	mint, err := nodesStating(t, testMint, 6, 4).mintOf(t.Context(), testMint)
	require.NoError(t, err)
	require.NoError(t, mint.Check())
}
