package wallet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/wallet"
)

func TestKeypairFilesAreTheSolanaCLIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "id.json")
	keypair := newKeypair(t)
	require.NoError(t, keypair.Save(path))

	read, err := wallet.LoadKeypairFile(path)
	require.NoError(t, err)
	assert.Equal(t, keypair, read)
	byLibrary, err := solana.PrivateKeyFromSolanaKeygenFile(path)
	require.NoError(t, err)
	assert.Equal(t, keypair.PrivateKey(), byLibrary)

	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.ErrorIs(t, newKeypair(t).Save(path), os.ErrExist)
}

func TestBrokenKeypairFilesAreRefusedWithoutBeingQuoted(t *testing.T) {
	mismatched := append(solana.PrivateKey{}, newKeypair(t).PrivateKey()...)
	mismatched[63] ^= 1
	contents := map[string]string{
		"no JSON":      "sekrit",
		"an object":    `{"sekrit":1}`,
		"too short":    "[1,2,3]",
		"no bytes":     "[256]",
		"negative":     "[-1]",
		"wrong halves": fmt.Sprint(jsonOf(mismatched)),
	}
	for name, content := range contents {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "id.json")
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			_, err := wallet.LoadKeypairFile(path)
			require.Error(t, err)
			assert.Contains(t, err.Error(), path)
			assert.NotContains(t, err.Error(), "sekrit")
		})
	}
	_, err := wallet.LoadKeypairFile(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestKeypairsFromText(t *testing.T) {
	keypair := newKeypair(t)
	for _, text := range []string{keypair.PrivateKey().String(), jsonOf(keypair.PrivateKey()), "\n " + jsonOf(keypair.PrivateKey()) + "\r\n"} {
		read, err := wallet.ParseKeypair([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, keypair, read)
	}
	for _, text := range []string{"", "sekrit0", "[1,2]", "[256]", "2222", keypair.PublicKey().String(), keypair.PrivateKey().String() + "2", strings.Repeat("z", 1<<20)} {
		_, err := wallet.ParseKeypair([]byte(text))
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "sekrit")
		assert.Less(t, len(err.Error()), 200)
	}
}

func jsonOf(key solana.PrivateKey) string {
	text := "["
	for i, value := range key {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprint(value)
	}
	return text + "]"
}

func TestPrintingAKeypairKeepsItsSecret(t *testing.T) {
	keypair := newKeypair(t)
	secret := keypair.PrivateKey().String()
	bytes := fmt.Sprint([]byte(keypair.PrivateKey()))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		for _, value := range []any{keypair, *keypair} {
			printed := fmt.Sprintf(verb, value)
			assert.Contains(t, printed, keypair.PublicKey().String())
			assert.NotContains(t, printed, secret)
		}
		// fmt does not call the methods of what a structure hides.
		hidden := fmt.Sprintf(verb, struct{ keypair wallet.Keypair }{*keypair})
		for _, shown := range []string{secret, bytes[1:40], fmt.Sprintf("%x", []byte(keypair.PrivateKey()))} {
			assert.NotContains(t, hidden, shown)
		}
	}
	assert.Equal(t, "none", fmt.Sprint(wallet.Keypair{}))
}

func TestPrivateKeyIsACopy(t *testing.T) {
	keypair := newKeypair(t)
	before := keypair.PublicKey()
	clear(keypair.PrivateKey())
	assert.Equal(t, before, keypair.PublicKey())
}
