package identity_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/identity"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

func declare(t *testing.T, key solana.PrivateKey, d identity.Declaration) identity.Declaration {
	t.Helper()
	signer, err := wallet.NewKeypair(key)
	require.NoError(t, err)
	d, err = identity.Declare(t.Context(), signer, d)
	require.NoError(t, err)
	return d
}

func TestDeclarations(t *testing.T) {
	key, err := solana.NewRandomPrivateKey()
	require.NoError(t, err)
	first := declare(t, key, identity.Declaration{Strategy: "genius-boulware", DeclaredAt: 100})
	second := declare(t, key, identity.Declaration{
		Model: "a/model-1.5", PromptHash: identity.PromptHash([]byte("Buy cheaply.")), DeclaredAt: 200,
	})
	var file bytes.Buffer
	for _, d := range []identity.Declaration{second, first} {
		require.NoError(t, json.NewEncoder(&file).Encode(d))
	}
	read, err := identity.ReadDeclarations(&file)
	require.NoError(t, err)
	require.Equal(t, []identity.Declaration{second, first}, read)

	_, ok := identity.DeclarationAt(read, key.PublicKey(), 99)
	require.False(t, ok)
	for time, want := range map[int64]identity.Declaration{100: first, 199: first, 200: second, 300: second} {
		found, ok := identity.DeclarationAt(read, key.PublicKey(), time)
		require.True(t, ok)
		require.Equal(t, want, found)
	}
	_, ok = identity.DeclarationAt(read, solana.PublicKey{1}, 300)
	require.False(t, ok)

	message, err := first.Message()
	require.NoError(t, err)
	require.Equal(t, "\xffsolana offchain\x00\x00", string(message[:18]))
	require.Equal(t, len(message)-20, int(message[18])+int(message[19])<<8)
	require.Equal(t, `{"statement":"haggle agent declaration","agent":"`+key.PublicKey().String()+
		`","strategy":"genius-boulware","model":"","prompt_hash":"","declared_at":100}`, string(message[20:]))
}

// TestChangedDeclarationsAreRefused changes each field in a signed declaration.
func TestChangedDeclarationsAreRefused(t *testing.T) {
	key, err := solana.NewRandomPrivateKey()
	require.NoError(t, err)
	signed := declare(t, key, identity.Declaration{Strategy: "linear", DeclaredAt: 100})
	for name, change := range map[string]func(*identity.Declaration){
		"agent":       func(d *identity.Declaration) { d.Agent[0]++ },
		"no agent":    func(d *identity.Declaration) { d.Agent = solana.PublicKey{} },
		"strategy":    func(d *identity.Declaration) { d.Strategy = "boulware" },
		"model":       func(d *identity.Declaration) { d.Model = "x" },
		"prompt hash": func(d *identity.Declaration) { d.PromptHash = identity.PromptHash(nil) },
		"time":        func(d *identity.Declaration) { d.DeclaredAt++ },
		"signature":   func(d *identity.Declaration) { d.Signature[0]++ },
		"long name":   func(d *identity.Declaration) { d.Model = strings.Repeat("x", 65) },
		"characters":  func(d *identity.Declaration) { d.Model = "\"" },
		"hash":        func(d *identity.Declaration) { d.PromptHash = "00" },
	} {
		changed := signed
		change(&changed)
		require.ErrorIs(t, changed.Verify(), identity.ErrDeclaration, name)
	}
	for _, text := range []string{"{", `{"other":1}`, `{}`} {
		_, err := identity.ReadDeclarations(strings.NewReader(text))
		require.ErrorIs(t, err, identity.ErrDeclaration)
	}
}
