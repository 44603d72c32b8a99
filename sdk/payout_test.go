package haggle

import (
	"errors"
	"slices"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// withDelegate and withCloseAuthority give another authority over a token account.
func withDelegate(data []byte) []byte {
	data[tokenAccountOffsetDelegate] = 1
	return data
}

func withCloseAuthority(data []byte) []byte {
	data[tokenAccountOffsetCloseAuthority] = 1
	return data
}

// A party can close, freeze or reassign a token account at any time. The associated account cannot make the
// transaction fail then, because the program records the amount; another account of the party could, so
// callers alone name such accounts. The client does not even request a list.
func TestPartyIsPaidAtItsAssociatedAccountInAnyState(t *testing.T) {
	frozen := func(owner solana.PublicKey) []byte { return tokenAccountData(owner, token.StateFrozen) }
	usable := func(owner solana.PublicKey) []byte { return tokenAccountData(owner, token.StateInitialized) }
	for name, stored := range map[string]func(owner solana.PublicKey) []byte{
		"usable": usable, "missing": nil, "frozen": frozen,
		"with a delegate":        func(owner solana.PublicKey) []byte { return withDelegate(usable(owner)) },
		"with a close authority": func(owner solana.PublicKey) []byte { return withCloseAuthority(usable(owner)) },
	} {
		t.Run(name, func(t *testing.T) {
			_, n, associated := bonded(t, nil)
			n.MilestoneBps = [8]uint16{10_000}
			client, scripted, _ := newScripted(t, map[string]func(int) (any, error){
				"getTokenAccountsByOwner": func(int) (any, error) {
					t.Error("a list of accounts was requested")
					return nil, errors.New("too many")
				},
			})
			buyers, sellers, named := associated(n.Buyer), associated(n.Seller), newKeypair(t).PublicKey()
			scripted.accounts = map[solana.PublicKey]any{keptMint: storedAccount(solana.Token2022ProgramID,
				mintData())}
			creations := 1
			if stored != nil {
				creations = 0
				scripted.accounts[buyers] = storedAccount(solana.Token2022ProgramID, stored(n.Buyer))
				scripted.accounts[sellers] = storedAccount(solana.Token2022ProgramID, stored(n.Seller))
			}
			for _, c := range []struct {
				build     func(buyer solana.PublicKey) (*Action, error)
				creations int
			}{
				{func(buyer solana.PublicKey) (*Action, error) {
					return client.At(n).AcceptOffer(n.Seller,
						0).PayTo(TokenAccounts{Buyer: buyer}).Build(t.Context())
				}, creations},
				{func(buyer solana.PublicKey) (*Action, error) {
					return client.At(n).Reject(n.Seller).PayTo(TokenAccounts{Buyer: buyer}).Build(t.Context())
				}, creations},
				{func(buyer solana.PublicKey) (*Action, error) {
					return client.At(n).Expire(n.Seller).PayTo(TokenAccounts{Buyer: buyer}).Build(t.Context())
				}, creations},
				{func(buyer solana.PublicKey) (*Action, error) {
					return client.At(n).ReleaseMilestone(n.Seller,
						0).PayTo(TokenAccounts{Buyer: buyer}).Build(t.Context())
				}, creations},
				{func(buyer solana.PublicKey) (*Action, error) {
					return client.At(n).ResolveDispute(testSeller, 0,
						0).PayTo(TokenAccounts{Buyer: buyer}).Build(t.Context())
				}, 0},
				{func(buyer solana.PublicKey) (*Action, error) {
					return client.At(n).SettleDeadline(testSeller).PayTo(TokenAccounts{Buyer: buyer}).Build(t.Context())
				}, 0},
			} {
				action, err := c.build(solana.PublicKey{})
				require.NoError(t, err)
				require.Len(t, action.Instructions, c.creations+1, action.Name)
				accounts := action.Instructions[c.creations].Accounts()
				assert.True(t, slices.ContainsFunc(accounts,
					func(m *solana.AccountMeta) bool { return m.PublicKey == buyers }), action.Name)
				assert.True(t, slices.ContainsFunc(accounts,
					func(m *solana.AccountMeta) bool { return m.PublicKey == sellers }), action.Name)

				action, err = c.build(named)
				require.NoError(t, err)
				accounts = action.Instructions[c.creations].Accounts()
				assert.True(t, slices.ContainsFunc(accounts,
					func(m *solana.AccountMeta) bool { return m.PublicKey == named }), action.Name)
			}
		})
	}
}

// Closing pays to any account that the owner alone controls; otherwise the recorded amount would wait.
func TestClosePaysAnAccountWithoutOtherAuthorities(t *testing.T) {
	owner := newKeypair(t).PublicKey()
	clean, delegated := newKeypair(t).PublicKey(), newKeypair(t).PublicKey()
	associated, err := token.AssociatedAddress(owner, keptMint, solana.TokenProgramID)
	require.NoError(t, err)
	usable := func() []byte { return tokenAccountData(owner, token.StateInitialized) }
	stored := func(data []byte) any { return storedAccount(solana.TokenProgramID, data) }
	listed := func(address solana.PublicKey, data []byte) any {
		return object{"pubkey": address, "account": stored(data)}
	}
	others := []any{listed(delegated, withDelegate(usable())), listed(clean, usable())}
	frozen := tokenAccountData(owner, token.StateFrozen)
	cases := map[string]struct {
		associated any
		others     []any
		named      solana.PublicKey
		want       solana.PublicKey
		creations  int
	}{
		"the associated account": {associated: stored(usable()), others: others,
			want: associated},
		"missing, at the payer's expense": {others: others, want: associated, creations: 1},
		"with a delegate": {associated: stored(withDelegate(usable())), others: others,
			want: clean},
		"with a close authority": {associated: stored(withCloseAuthority(usable())),
			others: others, want: clean},
		"frozen": {associated: stored(frozen), others: others, want: clean},
		"with a delegate, as the other one": {associated: stored(withDelegate(usable())),
			others: others[:1], want: associated},
		"with a delegate, and no other": {associated: stored(withDelegate(usable())),
			want: associated},
		"with a delegate, but another one named": {associated: stored(withDelegate(usable())), others: others,
			named: delegated, want: delegated},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client, scripted, _ := newScripted(t, map[string]func(int) (any, error){
				"getTokenAccountsByOwner": always(object{"context": object{"slot": testSlot},
					"value": c.others}),
			})
			scripted.accounts = map[solana.PublicKey]any{associated: c.associated}
			closing := &closing{client: client, payer: protocol.ProgramID,
				mint: &token.Mint{Address: keptMint, TokenProgram: solana.TokenProgramID}}
			account, err := closing.account(t.Context(), c.named, owner, 1, true)
			require.NoError(t, err)
			assert.Equal(t, c.want, account)
			assert.Len(t, closing.creations, c.creations)
		})
	}
}

// A party with too many accounts to list must not prevent the counterparty from closing.
func TestCloseFallsBackToTheAssociatedAccount(t *testing.T) {
	owner := newKeypair(t).PublicKey()
	associated, err := token.AssociatedAddress(owner, keptMint, solana.TokenProgramID)
	require.NoError(t, err)
	client, scripted, _ := newScripted(t, map[string]func(int) (any, error){
		"getTokenAccountsByOwner": func(int) (any, error) { return nil, errors.New("too many") },
	})
	scripted.accounts = map[solana.PublicKey]any{
		associated: storedAccount(solana.TokenProgramID, tokenAccountData(owner, token.StateFrozen)),
	}
	closing := &closing{client: client, payer: protocol.ProgramID,
		mint: &token.Mint{Address: keptMint, TokenProgram: solana.TokenProgramID}}
	account, err := closing.account(t.Context(), solana.PublicKey{}, owner, 1, false)
	require.NoError(t, err)
	assert.Equal(t, associated, account)
}
