package connection

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// flagsOf parses a command line's flags.
func flagsOf(t *testing.T, arguments ...string) *Flags {
	t.Helper()
	flags := &Flags{Unattended: true}
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Register(set)
	require.NoError(t, set.Parse(arguments))
	t.Cleanup(func() { _ = flags.Close() })
	return flags
}

// savedKey returns a new keypair and the file it is saved in.
func savedKey(t *testing.T) (*wallet.Keypair, string) {
	t.Helper()
	key, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "key.json")
	require.NoError(t, key.Save(path))
	return key, path
}

func TestKeypairFlagOpensEveryKindOfWallet(t *testing.T) {
	configured(t, "")
	key, path := savedKey(t)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	t.Setenv("AGENT_KEY", string(content))
	t.Setenv(WalletAPIKeyVariable, "secret")
	for _, name := range []string{path, "env:AGENT_KEY", "https://wallet.example/agents/7#" + key.PublicKey().String()} {
		flags := flagsOf(t, "--keypair", name)
		signer, err := flags.Signer(t.Context())
		require.NoError(t, err, name)
		require.Equal(t, key.PublicKey(), signer.PublicKey(), name)
		again, err := flags.Signer(t.Context())
		require.NoError(t, err)
		require.Same(t, signer, again, "it is opened once")
		address, err := flagsOf(t, "--keypair", name).Address(t.Context())
		require.NoError(t, err)
		require.Equal(t, key.PublicKey(), address)
	}
}

func TestWalletsThatDoNotOpen(t *testing.T) {
	configured(t, "")
	t.Setenv("AGENT_KEY", "topsecret")
	t.Setenv(PassphraseFileVariable, "")
	encrypted := filepath.Join(t.TempDir(), "agent.age")
	require.NoError(t, os.WriteFile(encrypted, []byte("topsecret"), 0o600))
	for name, message := range map[string]string{
		"none.json":                        "keypair file not found: none.json",
		"env:AGENT_KEY":                    "--keypair: a keypair has 64 bytes, not 7: environment variable AGENT_KEY",
		"env:NOTHING":                      "--keypair: the environment variable is not set: NOTHING",
		"env:":                             "--keypair: environment variable not set: env:NAME",
		"age:none.age":                     "keypair file not found: none.age",
		"age:" + encrypted:                 "passphrase of " + encrypted + ": no terminal to ask for it",
		"usb://ledger":                     `--keypair: unknown kind of wallet "usb"`,
		"https://wallet.example/topsecret": "--keypair: environment variable " + WalletAPIKeyVariable + " not set",
		"https://wallet.example#me":        `--keypair: invalid address after # of a remote wallet: "me" is not an address (32 bytes in base 58)`,
	} {
		_, err := flagsOf(t, "--keypair", name).Signer(t.Context())
		require.Equal(t, exitcode.Usage, exitcode.KindOf(err), name)
		require.Equal(t, message, exitcode.Message(err))
		require.NotContains(t, err.Error(), "topsecret")
	}
	t.Setenv(WalletAPIKeyVariable, "key")
	for _, name := range []string{"http://wallet.example/topsecret", "https://me:topsecret@wallet.example", "https://wallet.example?key=topsecret"} {
		_, err := flagsOf(t, "--keypair", name).Signer(t.Context())
		require.Equal(t, exitcode.Usage, exitcode.KindOf(err), name)
		require.NotContains(t, err.Error(), "topsecret")
	}
	t.Setenv(PassphraseFileVariable, encrypted)
	_, err := flagsOf(t, "--keypair", "age:"+encrypted).Signer(t.Context())
	require.Equal(t, "--keypair: not an encrypted file: "+encrypted, exitcode.Message(err))
}

func TestRemoteWalletNameIsItsHost(t *testing.T) {
	require.Equal(t, "https://wallet.example:8443", WalletName("https://wallet.example:8443/topsecret#address"))
	require.Equal(t, "https://wallet.example", WalletName("https://wallet.example#address"))
	require.Equal(t, "https://wallet.example", WalletName("https://wallet.example?key=topsecret"))
	require.Equal(t, "https://wallet.example", WalletName("https://me:topsecret@wallet.example/path"))
	for _, name := range []string{"key.json", "age:key.age", "env:KEY", `C:\keys\key.json`} {
		require.Equal(t, name, WalletName(name))
	}
}

func TestPassphraseFiles(t *testing.T) {
	for name, sample := range map[string]struct{ content, passphrase, message string }{
		"a line":        {"correct horse\n", "correct horse", ""},
		"without end":   {"correct horse", "correct horse", ""},
		"from Windows":  {"correct horse\r\n", "correct horse", ""},
		"spaces belong": {" correct horse \n", " correct horse ", ""},
		"empty":         {"", "", "the first line of"},
		"two lines":     {"correct\nhorse\n", "", "more than one line"},
		"too long":      {string(make([]byte, longestPassphrase+1)), "", "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "passphrase")
			require.NoError(t, os.WriteFile(path, []byte(sample.content), 0o600))
			t.Setenv(PassphraseFileVariable, path)
			passphrase, err := (&Flags{}).Passphrase(t.Context(), "passphrase")
			require.Equal(t, sample.passphrase, passphrase)
			if sample.message == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, sample.message)
			require.NotContains(t, err.Error(), "horse")
		})
	}
	t.Run("an open descriptor", func(t *testing.T) {
		if _, err := os.Stat("/dev/fd"); err != nil {
			return // a system without such paths
		}
		reader, writer, err := os.Pipe()
		require.NoError(t, err)
		defer reader.Close()
		_, err = writer.WriteString("correct horse\n")
		require.NoError(t, err)
		require.NoError(t, writer.Close())
		t.Setenv(PassphraseFileVariable, filepath.Join("/dev/fd", strconv.FormatUint(uint64(reader.Fd()), 10)))
		passphrase, err := (&Flags{}).Passphrase(t.Context(), "passphrase")
		require.NoError(t, err)
		require.Equal(t, "correct horse", passphrase)
	})
}

func TestSignerEnforcesThePolicy(t *testing.T) {
	configured(t, "")
	_, path := savedKey(t)
	folder := t.TempDir()
	limits, state := filepath.Join(folder, "policy.json"), filepath.Join(folder, "state.db")
	require.NoError(t, os.WriteFile(limits, []byte(`{
		"lamports": {"perTransaction": 1, "perNegotiation": 1, "perCounterparty": 1, "perDay": 1}, "tokens": {}
	}`), 0o600))
	flags := flagsOf(t, "-k", path, "--policy", limits, "--state", state)
	signer, err := flags.Signer(t.Context())
	require.NoError(t, err)
	require.IsType(t, &policy.Policy{}, signer)
	_, err = signer.SignMessage(t.Context(), []byte("anything"))
	require.ErrorIs(t, err, policy.ErrDenied)

	// A second process shares the usage.
	second := flagsOf(t, "-k", path, "--policy", limits, "--state", state)
	_, err = second.Signer(t.Context())
	require.NoError(t, err)
	address, err := second.Address(t.Context())
	require.NoError(t, err)
	require.Equal(t, signer.PublicKey(), address)
	require.NoError(t, second.Close())
	require.NoError(t, flags.Close())

	for _, arguments := range [][]string{{"--policy", "none", "--state", state}} {
		_, err := flagsOf(t, append(arguments, "-k", path)...).Signer(t.Context())
		require.Equal(t, exitcode.Usage, exitcode.KindOf(err), "%v", arguments)
	}
}
