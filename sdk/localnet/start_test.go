package localnet

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
)

// leaveCheckout changes into an empty folder and sets PATH to another one. It returns the absolute path of
// the program and the folder on PATH.
func leaveCheckout(t *testing.T) (program, path string) {
	t.Helper()
	program, err := filepath.Abs(elf)
	require.NoError(t, err)
	path = t.TempDir()
	t.Setenv("PATH", path)
	t.Setenv(EnvChain, "")
	t.Chdir(t.TempDir())
	return program, path
}

// fakeSurfpool runs the embedded chain, without a program, on the ports that the command surfpool gets.
const fakeSurfpool = `#!/bin/sh
[ "$1 $2 $4 $6 $8" = "start --host --port --ws-port --slot-time" ] || exit 2
exec %s --rpc-port "$5" --ws-port "$7" --slot-time "$9"
`

func TestStartOutsideACheckout(t *testing.T) {
	inside, err := findCheckout()
	require.NoError(t, err)
	for _, kind := range []Kind{Surfpool, Validator} {
		t.Run(string(kind), func(t *testing.T) {
			binary, err := inside.command(t.Context(), kind, func(line string) { t.Log(line) })
			require.NoError(t, err)
			program, path := leaveCheckout(t)
			if kind == Surfpool {
				script := fmt.Sprintf(fakeSurfpool, binary)
				require.NoError(t, os.WriteFile(filepath.Join(path, "surfpool"), []byte(script), 0o700))
			} else {
				require.NoError(t, os.Symlink(binary, filepath.Join(path, "solana-test-validator")))
			}

			net, err := Start(t.Context(), Options{Program: program})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, net.Close()) })
			require.Equal(t, kind, net.Chain.Kind)
			t.Chdir(filepath.Join(string(inside), "sdk", "localnet"))
			loadsTheProgramAsUpgradeable(t, net.Chain)
			advancesTheClock(t, net.Chain)
			holdsTheStartBalances(t, net)
			leavesNothingBehind(t, net.Chain)
		})
	}
}

func holdsTheStartBalances(t *testing.T, net *Net) {
	t.Helper()
	for owner, tokens := range map[solana.PublicKey]uint64{
		net.Buyer.PublicKey(): StartTokens, net.Seller.PublicKey(): 0, net.Treasury: 0,
	} {
		account := associatedWith(t, owner, net.Mint, solana.TokenProgramID)
		_, err := net.Chain.TokenAccount(t.Context(), account)
		require.NoError(t, err)
		requireTokens(t, net.Chain, account, tokens)
	}
	for _, owner := range []solana.PublicKey{net.Buyer.PublicKey(), net.Seller.PublicKey()} {
		lamports, err := net.Chain.Balance(t.Context(), owner)
		require.NoError(t, err)
		require.Equal(t, StartLamports, lamports)
	}
}

func TestStartErrors(t *testing.T) {
	t.Run("unknown kind", func(t *testing.T) {
		_, err := StartChain(t.Context(), Options{Kind: "mainnet"})
		require.ErrorContains(t, err, `"surfpool" or "validator"`)
	})
	t.Run("a plugin without a validator to load it", func(t *testing.T) {
		_, err := StartChain(t.Context(), Options{Kind: Surfpool, GeyserPlugin: "plugin.json"})
		require.ErrorContains(t, err, "Geyser")
		t.Setenv(EnvRPCURL, "http://127.0.0.1:1")
		_, err = StartChain(t.Context(), Options{Kind: Validator, GeyserPlugin: "plugin.json"})
		require.ErrorContains(t, err, "Geyser")
	})
	t.Run("no such program", func(t *testing.T) {
		_, err := StartChain(t.Context(), Options{Program: filepath.Join(t.TempDir(), "none.so")})
		require.ErrorIs(t, err, os.ErrNotExist)
		require.ErrorContains(t, err, "set Options.Program")
	})
	t.Run("not a program", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "text.so")
		require.NoError(t, os.WriteFile(file, []byte("text"), 0o600))
		_, err := StartChain(t.Context(), Options{Program: file})
		require.ErrorContains(t, err, "not an ELF file")
	})
	t.Run("a checkout without a built program", func(t *testing.T) {
		_, err := checkout(t.TempDir()).findProgram("")
		require.ErrorIs(t, err, os.ErrNotExist)
		require.ErrorContains(t, err, "make program")
	})
	t.Run("outside a checkout without anything", func(t *testing.T) {
		program, _ := leaveCheckout(t)
		_, err := StartChain(t.Context(), Options{Program: program})
		require.ErrorContains(t, err, "surfpool or solana-test-validator")
		require.ErrorContains(t, err, EnvRPCURL)
		_, err = StartChain(t.Context(), Options{Program: program, Kind: Validator})
		require.ErrorContains(t, err, "install solana-test-validator")
	})
	t.Run("outside a checkout without a program", func(t *testing.T) {
		_, path := leaveCheckout(t)
		require.NoError(t, os.WriteFile(filepath.Join(path, "surfpool"), nil, 0o700))
		_, err := StartChain(t.Context(), Options{})
		require.ErrorContains(t, err, "set Options.Program")
	})
	t.Run("a chain that ends at once", func(t *testing.T) {
		program, path := leaveCheckout(t)
		script := "#!/bin/sh\necho this surfpool is broken\nexit 7\n"
		require.NoError(t, os.WriteFile(filepath.Join(path, "surfpool"), []byte(script), 0o700))
		_, err := StartChain(t.Context(), Options{Program: program})
		require.ErrorContains(t, err, "exit status 7")
		require.ErrorContains(t, err, "this surfpool is broken")
	})
}
