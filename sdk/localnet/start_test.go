package localnet

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
)

// leaveCheckout changes into an empty directory, and sets PATH and the cache to empty directories, too. It
// returns both.
func leaveCheckout(t *testing.T) (path, cache string) {
	t.Helper()
	path, cache = t.TempDir(), t.TempDir()
	t.Setenv("PATH", path)
	t.Setenv("HAGGLE_CACHE", cache)
	t.Setenv(EnvChain, "")
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir(filepath.Join(cache, "bin"), 0o700))
	return path, cache
}

func writeScript(t *testing.T, path, script string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700))
}

// The validator's version is the same in this package, the scripts and the image.
func TestValidatorVersion(t *testing.T) {
	versions, err := os.ReadFile("../../toolchain/versions")
	require.NoError(t, err)
	require.Contains(t, string(versions), "VALIDATOR_VERSION="+validatorVersion+"\n")
	require.Contains(t, string(versions), fmt.Sprintf("VALIDATOR_SERIES=%d.%d\n", leastMajor, leastMinor))
	image, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	require.Contains(t, string(image), "ARG AGAVE_VERSION="+validatorVersion+"\n")
}

func TestFindValidator(t *testing.T) {
	ctx, quiet := t.Context(), func(string) {}
	path, cache := leaveCheckout(t)
	require.False(t, HasValidator(ctx))
	cached := filepath.Join(cache, "bin", "solana-test-validator-"+validatorVersion)
	validator := filepath.Join(path, "solana-test-validator")
	requireFound := func(want string) {
		t.Helper()
		found, err := findValidator(ctx, quiet)
		require.NoError(t, err)
		require.Equal(t, want, found)
	}

	writeScript(t, cached, "")
	requireFound(cached)
	writeScript(t, validator, "echo 'solana-test-validator 4.2.0 (src:00000000; feat:0, client:Agave)'")
	requireFound(validator)
	writeScript(t, validator, "echo solana-test-validator 5.0.1")
	requireFound(validator)

	writeScript(t, validator, "echo solana-test-validator 1.18.26")
	requireFound(cached)
	require.True(t, HasValidator(ctx))
	require.NoError(t, os.Remove(cached))
	_, err := findValidator(ctx, quiet)
	require.ErrorContains(t, err, validator+" is too old: version 1.18.26, but the program needs 4.2 or later")
	require.ErrorContains(t, err, "agave-install update")
}

func TestStartOutsideACheckout(t *testing.T) {
	inside, err := findCheckout()
	require.NoError(t, err)
	for _, kind := range []Kind{Process, Validator} {
		t.Run(string(kind), func(t *testing.T) {
			var binary string
			if kind == Validator {
				needValidator(t)
				binary, err = findValidator(t.Context(), func(line string) { t.Log(line) })
				require.NoError(t, err)
			}
			path, _ := leaveCheckout(t)
			if binary != "" {
				require.NoError(t, os.Symlink(binary, filepath.Join(path, "solana-test-validator")))
			}

			chain, err := Start(t.Context(), Options{Kind: kind})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, chain.Close()) })
			require.Equal(t, kind, chain.Chain.Kind)
			t.Chdir(filepath.Join(string(inside), "sdk", "localnet"))
			loadsTheProgramAsUpgradeable(t, chain.Chain)
			advancesTheClock(t, chain.Chain)
			holdsTheStartBalances(t, chain)
			hasASymbol(t, chain)
			leavesNothingBehind(t, chain.Chain)
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
		require.ErrorContains(t, err, `"process" or "validator"`)
	})
	t.Run("a plugin without a validator to load it", func(t *testing.T) {
		_, err := StartChain(t.Context(), Options{Kind: Process, GeyserPlugin: "plugin.json"})
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
	t.Run("a port that is in use", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer listener.Close()
		port := listener.Addr().(*net.TCPAddr).Port
		for _, kind := range []Kind{Process, Validator} {
			_, err = StartChain(t.Context(), Options{Kind: kind, Port: port})
			require.ErrorIs(t, err, ErrPortInUse)
			require.ErrorContains(t, err, strconv.Itoa(port))
		}
	})
	t.Run("a ledger without a validator", func(t *testing.T) {
		_, err := StartChain(t.Context(), Options{Kind: Process, Ledger: t.TempDir()})
		require.ErrorContains(t, err, "Ledger needs a started chain of the kind validator")
	})
	t.Run("not a program", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "text.so")
		require.NoError(t, os.WriteFile(file, []byte("text"), 0o600))
		_, err := StartChain(t.Context(), Options{Program: file})
		require.ErrorContains(t, err, "not an ELF file")
	})
	t.Run("outside a checkout without anything", func(t *testing.T) {
		leaveCheckout(t)
		_, err := StartChain(t.Context(), Options{Kind: Validator})
		require.ErrorContains(t, err, "install solana-test-validator 4.2 or later")
		require.ErrorContains(t, err, "checkout of "+modulePath)
		require.ErrorContains(t, err, "a chain of the kind process")
		require.ErrorContains(t, err, EnvRPCURL)
	})
	t.Run("a chain in this process needs nothing", func(t *testing.T) {
		leaveCheckout(t)
		chain, err := StartChain(t.Context(), Options{})
		require.NoError(t, err)
		require.Equal(t, Process, chain.Kind)
		require.NoError(t, chain.Close())
	})
	t.Run("a chain that ends at once", func(t *testing.T) {
		path, _ := leaveCheckout(t)
		writeScript(t, filepath.Join(path, "solana-test-validator"),
			"[ \"$1\" = --version ] && exit\necho this validator is broken\nexit 7\n")
		_, err := StartChain(t.Context(), Options{Kind: Validator})
		require.ErrorContains(t, err, "exit status 7")
		require.ErrorContains(t, err, "this validator is broken")
	})
}
