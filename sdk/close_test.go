package haggle

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

func TestCloserPaysForNoAccountOfOthers(t *testing.T) {
	seller, closer, treasury := newKeypair(t).PublicKey(), newKeypair(t).PublicKey(), newKeypair(t).PublicKey()
	associated, err := token.AssociatedAddress(seller, keptMint, solana.TokenProgramID)
	require.NoError(t, err)
	treasurys, err := token.AssociatedAddress(treasury, keptMint, solana.TokenProgramID)
	require.NoError(t, err)
	n := keptFor(t, seller)
	vault, bump, err := protocol.FindVaultAddress(n.Address)
	require.NoError(t, err)
	n.VaultBump = bump
	config, _, err := protocol.FindConfigAddress()
	require.NoError(t, err)
	stored := map[solana.PublicKey]any{
		vault:    storedAccount(solana.TokenProgramID, tokenAccountData(vault, token.StateInitialized)),
		config:   storedAccount(protocol.ProgramID, (&protocol.ProtocolConfig{Treasury: treasury}).Encode()),
		keptMint: storedAccount(solana.TokenProgramID, mintData()),
	}
	other := newKeypair(t).PublicKey()
	cases := map[string]struct {
		closer    solana.PublicKey
		create    bool
		offered   []any
		want      solana.PublicKey
		creations int
	}{
		"a stranger":              {closer, false, nil, solana.PublicKey{}, 1},
		"a stranger who wants to": {closer, true, nil, associated, 2},
		"the party itself":        {seller, false, nil, associated, 2},
		"another account of the party's": {closer, false, []any{object{
			"pubkey":  other,
			"account": storedAccount(solana.TokenProgramID, tokenAccountData(seller, token.StateInitialized)),
		}}, other, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client, scripted, _ := newScripted(t, map[string]func(int) (any, error){
				"getTokenAccountsByOwner": always(object{"context": object{"slot": testSlot},
					"value": c.offered}),
			})
			scripted.accounts = stored
			action, err := client.At(n).Close(c.closer).PayTo(TokenAccounts{CreateMissing: c.create}).Build(t.Context())
			require.NoError(t, err)
			require.Len(t, action.Instructions, c.creations+1)
			last := action.Instructions[c.creations]
			data, err := last.Data()
			require.NoError(t, err)
			var built protocol.CloseNegotiation
			require.NoError(t, built.Decode(last.Accounts(), data))
			assert.Equal(t, c.want, built.SellerTokenAccount)
			assert.Equal(t, treasurys, built.TreasuryTokenAccount)
			assert.True(t, built.BuyerTokenAccount.IsZero())
		})
	}
}

// The program closes nothing in the second of creation.
func TestCloseWaitsForTheSecondOfCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
		n := keptFor(t, a.me.PublicKey())
		n.Status, n.CreatedAt, n.ClaimableSeller = protocol.NegotiationStatusRejected, testNow, 0
		vault, bump, err := protocol.FindVaultAddress(n.Address)
		require.NoError(t, err)
		n.VaultBump, n.Version = bump, protocol.NegotiationVersion
		config, _, err := protocol.FindConfigAddress()
		require.NoError(t, err)
		began := time.Now()
		a.node.each = func(address solana.PublicKey) any {
			return map[solana.PublicKey]any{
				n.Address: negotiationAnswer(n), keptMint: storedAccount(solana.TokenProgramID, mintData()),
				vault: storedAccount(solana.TokenProgramID,
					tokenAccountData(vault, token.StateInitialized)),
				config: storedAccount(protocol.ProgramID,
					(&protocol.ProtocolConfig{Treasury: testSeller}).Encode()),
				solana.SysVarClockPubkey: clockAt(testNow + int64(time.Since(began)/time.Second)),
			}[address]
		}
		close := func() time.Duration {
			began = time.Now()
			action, err := a.At(n).Close(a.me.PublicKey()).Build(t.Context())
			require.NoError(t, err)
			_, err = action.Do(t.Context(), a.me)
			require.NoError(t, err)
			return time.Since(began)
		}
		assert.GreaterOrEqual(t, close(), time.Second)
		n.LastOfferAt = testNow + 1
		assert.Less(t, close(), time.Second, "the snapshot shows that the second is over")
	})
}
