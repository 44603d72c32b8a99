package haggle

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

var keptMint = solana.PublicKey{77}

// tokenAccountData returns an SPL Token account's bytes.
func tokenAccountData(owner solana.PublicKey, state token.State) []byte {
	data := make([]byte, tokenAccountSize)
	copy(data, keptMint[:])
	copy(data[tokenAccountOffsetOwner:], owner[:])
	data[tokenAccountOffsetAmt] = 200
	data[tokenAccountOffsetState] = byte(state)
	return data
}

// payoutClient returns a client whose node returns stored for every address, and names the offered account as
// any owner's.
func payoutClient(t *testing.T, stored any, owner, offered solana.PublicKey) *Client {
	t.Helper()
	client, _, _ := newScripted(t, map[string]func(int) (any, error){
		"getMultipleAccounts": always(object{"context": object{"slot": testSlot}, "value": []any{stored}}),
		"getTokenAccountsByOwner": always(object{"context": object{"slot": testSlot},
			"value": []any{nil, object{
				"pubkey":  offered,
				"account": storedAccount(solana.TokenProgramID, tokenAccountData(owner, token.StateInitialized)),
			}}}),
	})
	client.mints.Put(keptMint, token.Mint{Address: keptMint, TokenProgram: solana.TokenProgramID})
	return client
}

func keptFor(t *testing.T, party solana.PublicKey) *Snapshot {
	t.Helper()
	return &Snapshot{Address: newKeypair(t).PublicKey(), Negotiation: protocol.Negotiation{
		Buyer: newKeypair(t).PublicKey(), Seller: party, TokenMint: keptMint, ClaimableSeller: 9,
		Status: protocol.NegotiationStatusSettled,
	}}
}

func claimOf(t *testing.T, action *Action) *protocol.ClaimPayout {
	t.Helper()
	last := action.Instructions[len(action.Instructions)-1]
	data, err := last.Data()
	require.NoError(t, err)
	claim := new(protocol.ClaimPayout)
	require.NoError(t, claim.Decode(last.Accounts(), data))
	return claim
}

func TestClaimGoesToNoAccountThatTheNodeNames(t *testing.T) {
	party, thief := newKeypair(t).PublicKey(), newKeypair(t).PublicKey()
	associated, err := token.AssociatedAddress(party, keptMint, solana.TokenProgramID)
	require.NoError(t, err)
	cases := map[string]struct {
		stored    any
		creations int
		refused   bool
	}{
		"missing": {nil, 1, false},
		"usable": {storedAccount(solana.TokenProgramID,
			tokenAccountData(party, token.StateInitialized)), 0, false},
		"frozen": {storedAccount(solana.TokenProgramID, tokenAccountData(party, token.StateFrozen)),
			0, true},
		"given away": {storedAccount(solana.TokenProgramID,
			tokenAccountData(thief, token.StateInitialized)), 0, true},
		"no token account": {storedAccount(protocol.ProgramID, []byte{1}), 0, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := payoutClient(t, c.stored, party, thief)
			action, err := client.At(keptFor(t, party)).ClaimPayout(party,
				solana.PublicKey{}).Build(t.Context())
			if c.refused {
				var wrong *protocol.AccountError
				require.ErrorAs(t, err, &wrong)
				assert.Equal(t, associated, wrong.Address)
				assert.ErrorContains(t, err, "name a destination")
				return
			}
			require.NoError(t, err)
			assert.Len(t, action.Instructions, c.creations+1)
			assert.Equal(t, associated, claimOf(t, action).DestinationTokenAccount)
		})
	}

	// A named destination is used with no request to the node.
	named := newKeypair(t).PublicKey()
	client := payoutClient(t,
		storedAccount(solana.TokenProgramID, tokenAccountData(party, token.StateFrozen)), party, thief)
	action, err := client.At(keptFor(t, party)).ClaimPayout(party, named).Build(t.Context())
	require.NoError(t, err)
	assert.Equal(t, named, claimOf(t, action).DestinationTokenAccount)
}
