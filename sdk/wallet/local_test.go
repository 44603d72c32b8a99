package wallet_test

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/wallet"
)

func newKeypair(t *testing.T) *wallet.Keypair {
	t.Helper()
	keypair, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	return keypair
}

const variable = "HAGGLE_TEST_KEYPAIR"

func TestKeypairsFromTheEnvironment(t *testing.T) {
	keypair := newKeypair(t)
	_, err := wallet.FromEnvironment(variable)
	require.ErrorIs(t, err, wallet.ErrNotSet)
	asJSON, err := json.Marshal([]int(numbers(keypair)))
	require.NoError(t, err)
	for _, text := range []string{keypair.PrivateKey().String(), string(asJSON)} {
		t.Setenv(variable, text)
		read, err := wallet.FromEnvironment(variable)
		require.NoError(t, err)
		require.Equal(t, keypair, read)
	}
	t.Setenv(variable, "sekrit0")
	_, err = wallet.FromEnvironment(variable)
	require.ErrorContains(t, err, variable)
	require.NotContains(t, err.Error(), "sekrit")
}

func numbers(keypair *wallet.Keypair) []int {
	var values []int
	for _, value := range keypair.PrivateKey() {
		values = append(values, int(value))
	}
	return values
}

const (
	passphrase = "correct horse battery"
	quick      = 10
)

func TestEncryptedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.age")
	keypair := newKeypair(t)
	require.NoError(t, wallet.CreateEncryptedQuickly(path, passphrase, keypair, quick))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	sealed, err := io.ReadAll(armor.NewReader(bytes.NewReader(content)))
	require.NoError(t, err)
	written, err := json.Marshal(numbers(keypair)[:4])
	require.NoError(t, err)
	for _, secret := range []string{string(keypair.PrivateKey()[:8]), strings.Trim(string(written), "[]")} {
		require.NotContains(t, string(sealed), secret)
	}

	read, err := wallet.OpenEncrypted(path, passphrase)
	require.NoError(t, err)
	require.Equal(t, keypair, read)

	_, err = wallet.OpenEncrypted(path, passphrase+"!")
	require.ErrorIs(t, err, wallet.ErrPassphrase)
	_, err = wallet.OpenEncrypted(path, "")
	require.ErrorIs(t, err, wallet.ErrPassphrase)
	require.ErrorIs(t, wallet.CreateEncryptedQuickly(path, passphrase, keypair, quick), fs.ErrExist, "an existing key is never overwritten")
	require.ErrorIs(t, wallet.CreateEncrypted(path+"2", "short", keypair), wallet.ErrWeakPassphrase)
	require.NoFileExists(t, path+"2")
	_, err = wallet.OpenEncrypted(path+"2", passphrase)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestEncryptedFilesAreReadableByTheOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.age")
	require.NoError(t, wallet.CreateEncryptedQuickly(path, passphrase, newKeypair(t), quick))
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620, 0o602, 0o700} {
		require.NoError(t, os.Chmod(path, mode))
		_, err := wallet.OpenEncrypted(path, passphrase)
		require.ErrorIs(t, err, wallet.ErrReadableByOthers, mode.String())
	}
	require.NoError(t, os.Chmod(path, 0o400))
	_, err := wallet.OpenEncrypted(path, passphrase)
	require.NoError(t, err)
}

// Any other content is an error, neither a key nor a crash. A file that would use up the memory is rejected
// first.
func TestDamagedEncryptedFiles(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "agent.age")
	require.NoError(t, wallet.CreateEncryptedQuickly(path, passphrase, newKeypair(t), quick))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	damaged := append([]byte(nil), whole...)
	damaged[len(damaged)/2] ^= 1
	for name, content := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "cut": whole[:len(whole)/2], "damaged": damaged, "huge": make([]byte, 1<<20),
		"an invalid key": encrypted(t, "[1,2,3]"), "no key": encrypted(t, "sekrit0"),
		"costly": bytes.Replace(encrypted(t, "[1,2,3]"), []byte(" 10\n"), []byte(" 30\n"), 1),
	} {
		other := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(other, content, 0o600))
		_, err := wallet.OpenEncrypted(other, passphrase)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "sekrit")
		if name == "costly" {
			require.ErrorContains(t, err, "work factor")
		}
	}
}

// The error for an unencrypted key does not quote it, armored or not.
func TestFilesThatAreNotEncryptedAreNotQuoted(t *testing.T) {
	for name, content := range map[string]string{
		"a keypair file":  "[1,2,3,99]",
		"base 58":         "sekrit99",
		"armored":         armorOf(t, "[1,2,3,99]"),
		"armored and cut": armorOf(t, "[1,2,3,99]")[:50],
		"armored badly":   strings.Replace(armorOf(t, "[1,2,3,99]"), "\n-----END", "sekrit99\n-----END", 1),
	} {
		path := filepath.Join(t.TempDir(), "agent.age")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := wallet.OpenEncrypted(path, passphrase)
		require.ErrorIs(t, err, wallet.ErrNotEncrypted, name)
		require.EqualError(t, err, "haggle: wallet: not an encrypted file: "+path)
	}
}

func armorOf(t *testing.T, plain string) string {
	t.Helper()
	var content strings.Builder
	armored := armor.NewWriter(&content)
	_, err := armored.Write([]byte(plain))
	require.NoError(t, err)
	require.NoError(t, armored.Close())
	return content.String()
}

// encrypted returns the file that age itself writes, unarmored.
func encrypted(t *testing.T, plain string) []byte {
	t.Helper()
	recipient, err := age.NewScryptRecipient(passphrase)
	require.NoError(t, err)
	recipient.SetWorkFactor(quick)
	path := filepath.Join(t.TempDir(), "plain.age")
	file, err := os.Create(path)
	require.NoError(t, err)
	writer, err := age.Encrypt(file, recipient)
	require.NoError(t, err)
	_, err = writer.Write([]byte(plain))
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	require.NoError(t, file.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}

func TestFilesWrittenByAge(t *testing.T) {
	keypair := newKeypair(t)
	path := filepath.Join(t.TempDir(), "agent.age")
	require.NoError(t, os.WriteFile(path, encrypted(t, keypair.PrivateKey().String()+"\n"), 0o600))
	read, err := wallet.OpenEncrypted(path, passphrase)
	require.NoError(t, err)
	require.Equal(t, keypair, read)
}
