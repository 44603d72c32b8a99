package haggle

import (
	"errors"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
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

func TestPayeeIsPaidAtAnAccountThatItAloneControls(t *testing.T) {
	owner := newKeypair(t).PublicKey()
	clean, delegated := newKeypair(t).PublicKey(), newKeypair(t).PublicKey()
	associated, err := AssociatedTokenAddress(owner, keptMint, solana.TokenProgramID)
	require.NoError(t, err)
	usable := func() []byte { return tokenAccountData(owner, TokenAccountInitialized) }
	stored := func(data []byte) any { return storedAccount(solana.TokenProgramID, data) }
	listed := func(address solana.PublicKey, data []byte) any {
		return object{"pubkey": address, "account": stored(data)}
	}
	others := []any{listed(delegated, withDelegate(usable())), listed(clean, usable())}
	cases := map[string]struct {
		associated any
		others     []any
		payee      payee
		want       solana.PublicKey
		creations  int
	}{
		"the associated account":                 {stored(usable()), others, payee{}, associated, 0},
		"missing":                                {nil, others, payee{}, associated, 0},
		"missing, at the payer's expense":        {nil, others, payee{creates: true}, associated, 1},
		"with a delegate":                        {stored(withDelegate(usable())), others, payee{}, clean, 0},
		"with a close authority":                 {stored(withCloseAuthority(usable())), others, payee{}, clean, 0},
		"frozen":                                 {stored(tokenAccountData(owner, TokenAccountFrozen)), others, payee{}, clean, 0},
		"with a delegate, and the owner signs":   {stored(withDelegate(usable())), others, payee{signs: true}, associated, 0},
		"frozen, and the owner signs":            {stored(tokenAccountData(owner, TokenAccountFrozen)), others, payee{signs: true}, delegated, 0},
		"with a delegate, as the other one":      {stored(withDelegate(usable())), others[:1], payee{}, associated, 0},
		"with a delegate, and no other":          {stored(withDelegate(usable())), nil, payee{}, associated, 0},
		"with a delegate, but another one named": {stored(withDelegate(usable())), others, payee{named: delegated}, delegated, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client, scripted, _ := newScripted(t, map[string]func(int) (any, error){
				"getTokenAccountsByOwner": always(object{"context": object{"slot": testSlot}, "value": c.others}),
			})
			scripted.accounts = map[solana.PublicKey]any{associated: c.associated}
			c.payee.owner = owner
			accounts, before, err := client.payeeAccounts(t.Context(), protocol.ProgramID, &Mint{Address: keptMint, TokenProgram: solana.TokenProgramID}, c.payee)
			require.NoError(t, err)
			assert.Equal(t, []solana.PublicKey{c.want}, accounts)
			assert.Len(t, before, c.creations)
		})
	}
}

// A party with too many accounts to list must not keep the other one from acting.
func TestListThatFailsLeavesTheAssociatedAccount(t *testing.T) {
	owner := newKeypair(t).PublicKey()
	associated, err := AssociatedTokenAddress(owner, keptMint, solana.TokenProgramID)
	require.NoError(t, err)
	client, scripted, _ := newScripted(t, map[string]func(int) (any, error){
		"getTokenAccountsByOwner": func(int) (any, error) { return nil, errors.New("too many") },
	})
	scripted.accounts = map[solana.PublicKey]any{
		associated: storedAccount(solana.TokenProgramID, tokenAccountData(owner, TokenAccountFrozen)),
	}
	mint := &Mint{Address: keptMint, TokenProgram: solana.TokenProgramID}
	accounts, _, err := client.payeeAccounts(t.Context(), protocol.ProgramID, mint, payee{owner: owner})
	require.NoError(t, err)
	assert.Equal(t, []solana.PublicKey{associated}, accounts)
}

// Whoever pays for an expiry or a settlement does not sign the instruction, so it counts as a stranger.
func TestOnlySignersOfTheInstructionArePaidDespiteADelegate(t *testing.T) {
	_, n, associated := bonded(t, nil)
	own := associated(n.Buyer)
	clean := newKeypair(t).PublicKey()
	client, scripted, _ := newScripted(t, map[string]func(int) (any, error){
		"getTokenAccountsByOwner": always(object{"context": object{"slot": testSlot}, "value": []any{object{
			"pubkey": clean, "account": storedAccount(solana.Token2022ProgramID, tokenAccountData(n.Buyer, TokenAccountInitialized)),
		}}}),
	})
	scripted.accounts = map[solana.PublicKey]any{
		keptMint: storedAccount(solana.Token2022ProgramID, mintData()),
		own:      storedAccount(solana.Token2022ProgramID, withDelegate(tokenAccountData(n.Buyer, TokenAccountInitialized))),
	}
	expiry, err := client.Expire(t.Context(), ExpireRequest{Payer: n.Buyer, Seen: n})
	require.NoError(t, err)
	assert.Equal(t, clean, lastInstruction[protocol.ExpireNegotiation](t, expiry).BuyerTokenAccount)
	rejection, err := client.Reject(t.Context(), RejectRequest{Rejector: n.Buyer, Seen: n})
	require.NoError(t, err)
	assert.Equal(t, own, lastInstruction[protocol.RejectNegotiation](t, rejection).BuyerTokenAccount)
}
