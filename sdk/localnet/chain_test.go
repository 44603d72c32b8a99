package localnet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/token"
	token2022 "github.com/gagliardetto/solana-go/programs/token-2022"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/ws"
	"github.com/stretchr/testify/require"
)

// TestMain forgets the chain that the environment may offer: these tests run their own.
func TestMain(m *testing.M) {
	_ = os.Unsetenv(EnvRPCURL)
	os.Exit(m.Run())
}

func TestChains(t *testing.T) {
	for _, kind := range []Kind{Process, Validator} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			t.Run("programs and clock", func(t *testing.T) {
				t.Parallel()
				chain := start(t, kind)
				loadsTheProgramAsUpgradeable(t, chain)
				advancesTheClock(t, chain)
			})
			t.Run("money", func(t *testing.T) {
				t.Parallel()
				chain := start(t, kind)
				fundsAccounts(t, chain)
				hasOneMintOfWrappedSOL(t, chain)
				handlesTokens(t, chain)
				saysWhyATransactionFails(t, chain)
				notifiesSubscribers(t, chain)
				leavesNothingBehind(t, chain)
			})
		})
	}
}

// needValidator skips a test if the machine lacks the validator. make nightly builds one.
func needValidator(t *testing.T) {
	t.Helper()
	if !HasValidator(t.Context()) {
		t.Skip("no validator is installed: make validator builds one")
	}
}

// start uses kind whatever HAGGLE_CHAIN says: this package's tests are about both.
func start(t *testing.T, kind Kind) *Chain {
	t.Helper()
	if kind == Validator {
		needValidator(t)
	}
	var log bytes.Buffer
	progress := func(line string) { t.Log(line) }
	chain, err := StartChain(t.Context(), Options{Kind: kind, Log: &log, Progress: progress})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, chain.Close())
		if t.Failed() {
			t.Log(log.String())
		}
	})
	require.Equal(t, kind, chain.Kind)
	return chain
}

// Scenarios that run at the same time ask for the mint at the same time.
func hasOneMintOfWrappedSOL(t *testing.T, chain *Chain) {
	var asking sync.WaitGroup
	failed := make([]error, 8)
	for i := range failed {
		asking.Go(func() { _, failed[i] = chain.NativeMint(t.Context(), solana.Token2022ProgramID) })
	}
	asking.Wait()
	require.NoError(t, errors.Join(failed...))
}

func newKey(t *testing.T) solana.PrivateKey {
	t.Helper()
	key, err := solana.NewRandomPrivateKey()
	require.NoError(t, err)
	return key
}

func loadsTheProgramAsUpgradeable(t *testing.T, chain *Chain) {
	program, err := chain.client.GetAccountInfo(t.Context(), chain.ProgramID)
	require.NoError(t, err)
	require.True(t, program.Value.Executable)
	require.Equal(t, solana.BPFLoaderUpgradeableProgramID, program.Value.Owner)

	address, _, err := solana.FindProgramAddress([][]byte{chain.ProgramID.Bytes()}, solana.BPFLoaderUpgradeableProgramID)
	require.NoError(t, err)
	account, err := chain.client.GetAccountInfo(t.Context(), address)
	require.NoError(t, err)
	data := account.GetBinary()
	require.Equal(t, []byte{3, 0, 0, 0}, data[:4], "the state ProgramData")
	require.EqualValues(t, 1, data[12], "there is an upgrade authority")
	require.Equal(t, chain.UpgradeAuthority.PublicKey().Bytes(), data[13:45])

	require.Equal(t, Program(), data[45:], "the bytes that would be deployed")
}

func advancesTheClock(t *testing.T, chain *Chain) {
	latest, err := chain.client.GetLatestBlockhash(t.Context(), rpc.CommitmentConfirmed)
	require.NoError(t, err)
	before, err := chain.Now(t.Context())
	require.NoError(t, err)

	seconds := map[Kind]int64{Process: 3 * 24 * 3600, Validator: 4}[chain.Kind]
	require.NoError(t, chain.AdvanceTo(t.Context(), before+seconds))
	after, err := chain.Now(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, after, before+seconds)
	require.LessOrEqual(t, after, before+seconds+3)

	valid, err := chain.client.IsBlockhashValid(t.Context(), latest.Value.Blockhash, rpc.CommitmentConfirmed)
	require.NoError(t, err)
	require.True(t, valid.Value, "a blockhash outlives the jump")
	require.NoError(t, chain.AdvanceTo(t.Context(), before), "a time that has passed")
	require.NoError(t, chain.Fund(t.Context(), newKey(t).PublicKey(), solana.LAMPORTS_PER_SOL), "the chain goes on")

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if chain.Kind == Validator {
		require.ErrorIs(t, chain.AdvanceTo(ctx, after+3600), context.DeadlineExceeded)
	}
}

func fundsAccounts(t *testing.T, chain *Chain) {
	account := newKey(t).PublicKey()
	balance, err := chain.Balance(t.Context(), account)
	require.NoError(t, err)
	require.Zero(t, balance)
	require.NoError(t, chain.Fund(t.Context(), account, 2*solana.LAMPORTS_PER_SOL))
	balance, err = chain.Balance(t.Context(), account)
	require.NoError(t, err)
	require.Equal(t, 2*solana.LAMPORTS_PER_SOL, balance)
}

// Both token programs are used alike; associated accounts are at each program's own addresses.
func handlesTokens(t *testing.T, chain *Chain) {
	for _, program := range []solana.PublicKey{solana.TokenProgramID, solana.Token2022ProgramID} {
		mint, err := chain.createMint(t.Context(), nil, program, 6)
		require.NoError(t, err)
		handlesTokensOf(t, chain, program, mint)
		wrapsLamports(t, chain, program)
	}
	createsMintsWithExtensions(t, chain)
}

// associatedWith derives an owner's associated token account.
func associatedWith(t *testing.T, owner, mint, program solana.PublicKey) solana.PublicKey {
	t.Helper()
	address, _, err := solana.FindAssociatedTokenAddressWithProgram(owner, mint, program)
	require.NoError(t, err)
	return address
}

func requireTokens(t *testing.T, chain *Chain, account solana.PublicKey, amount uint64) {
	t.Helper()
	tokens, err := chain.Tokens(t.Context(), account)
	require.NoError(t, err)
	require.Equal(t, amount, tokens)
}

func handlesTokensOf(t *testing.T, chain *Chain, program, mint solana.PublicKey) {
	ctx := t.Context()
	var holdings []Holding
	for amount := range uint64(7) {
		holdings = append(holdings, Holding{Owner: newKey(t).PublicKey(), Lamports: 1e9 + amount, Tokens: amount})
	}
	owner := newKey(t)
	holdings[0].Owner = owner.PublicKey()
	require.NoError(t, chain.Endow(ctx, mint, holdings...))
	account := func(holder int) solana.PublicKey { return associatedWith(t, holdings[holder].Owner, mint, program) }
	for i, holding := range holdings {
		requireTokens(t, chain, account(i), holding.Tokens)
		lamports, err := chain.Balance(ctx, holding.Owner)
		require.NoError(t, err)
		require.Equal(t, holding.Lamports, lamports)
	}

	key := newKey(t)
	second := key.PublicKey()
	require.NoError(t, chain.CreateTokenAccountAt(ctx, mint, owner.PublicKey(), key))
	require.NoError(t, chain.MintTo(ctx, mint, account(0), 10))
	require.NoError(t, chain.Transfer(ctx, mint, account(0), second, owner, 10))
	requireTokens(t, chain, second, 10)

	require.NoError(t, chain.Freeze(ctx, mint, second))
	require.ErrorContains(t, chain.Transfer(ctx, mint, second, account(0), owner, 1), "0x11", "frozen")
	require.NoError(t, chain.Thaw(ctx, mint, second))
	require.NoError(t, chain.Transfer(ctx, mint, second, account(1), owner, 10))
	requireTokens(t, chain, account(1), 11)

	require.NoError(t, chain.CloseTokenAccount(ctx, second, owner))
	_, err := chain.TokenAccount(ctx, second)
	require.ErrorIs(t, err, rpc.ErrNotFound)
	requireTokens(t, chain, second, 0)

	heir := newKey(t).PublicKey()
	require.NoError(t, chain.CreateTokenAccountAt(ctx, mint, heir, key), "at the same address again")
	stored, err := chain.TokenAccount(ctx, second)
	require.NoError(t, err)
	require.Equal(t, heir, stored.Owner)

	_, err = chain.Send(ctx, nil, under(program,
		token.NewSetAuthorityInstruction(token.AuthorityMintTokens, heir, mint, chain.Faucet(), nil).Build()))
	require.NoError(t, err)
	require.ErrorContains(t, chain.MintTo(ctx, mint, second, 1), "0x4", "the faucet is not the issuer any more")
}

func wrapsLamports(t *testing.T, chain *Chain, program solana.PublicKey) {
	ctx := t.Context()
	mint, err := chain.NativeMint(ctx, program)
	require.NoError(t, err)
	again, err := chain.NativeMint(ctx, program)
	require.NoError(t, err)
	require.Equal(t, mint, again)

	owner := newKey(t).PublicKey()
	require.NoError(t, chain.Endow(ctx, mint, Holding{Owner: owner}))
	account := associatedWith(t, owner, mint, program)
	require.NoError(t, chain.Fund(ctx, account, 7))
	_, err = chain.Send(ctx, nil, under(program, token.NewSyncNativeInstruction(account).Build()))
	require.NoError(t, err)
	requireTokens(t, chain, account, 7)
}

func createsMintsWithExtensions(t *testing.T, chain *Chain) {
	ctx := t.Context()
	mint, err := chain.CreateToken2022Mint(ctx, 6, MintExtension{
		Type: token2022.ExtensionMetadataPointer,
		Initialize: func(mint, issuer solana.PublicKey) []byte {
			initialize := []byte{token2022.Instruction_MetadataPointerExtension, 0}
			return slices.Concat(initialize, issuer[:], mint[:])
		},
	})
	require.NoError(t, err)
	account, err := chain.tokenProgramAccount(ctx, mint)
	require.NoError(t, err)
	stored, err := token2022.DecodeMintWithExtensions(account.Data.GetBinary())
	require.NoError(t, err)
	require.Equal(t, mint, *stored.MetadataPointer.MetadataAddress.Get())
	require.Equal(t, chain.Faucet(), *stored.MetadataPointer.Authority.Get())
}

func saysWhyATransactionFails(t *testing.T, chain *Chain) {
	poor := newKey(t)
	err := chain.Transfer(t.Context(), solana.PublicKey{}, poor.PublicKey(), poor.PublicKey(), poor, 1)
	require.Error(t, err)
	require.NoError(t, chain.Fund(t.Context(), poor.PublicKey(), solana.LAMPORTS_PER_SOL))
	err = chain.CloseTokenAccount(t.Context(), poor.PublicKey(), poor)
	require.ErrorContains(t, err, "is not a token program")
	_, err = chain.Send(t.Context(), []solana.PrivateKey{poor},
		token.NewCloseAccountInstruction(poor.PublicKey(), poor.PublicKey(), poor.PublicKey(), nil).Build())
	require.ErrorContains(t, err, "Program "+solana.TokenProgramID.String(), "the log is part of the error")
}

func notifiesSubscribers(t *testing.T, chain *Chain) {
	client, err := ws.Connect(t.Context(), chain.WSURL())
	require.NoError(t, err)
	defer client.Close()
	account := newKey(t).PublicKey()
	subscription, err := client.AccountSubscribe(account, rpc.CommitmentConfirmed)
	require.NoError(t, err)
	defer subscription.Unsubscribe()

	// The client returns before the node knows of the subscription, so the first gift may come too early.
	for gifts := uint64(1); gifts <= 10; gifts++ {
		require.NoError(t, chain.Fund(t.Context(), account, solana.LAMPORTS_PER_SOL))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		change, err := subscription.Recv(ctx)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			continue
		}
		require.NoError(t, err)
		require.Positive(t, change.Value.Lamports)
		require.LessOrEqual(t, change.Value.Lamports, gifts*solana.LAMPORTS_PER_SOL)
		return
	}
	require.Fail(t, "ten gifts without a notification")
}

func leavesNothingBehind(t *testing.T, chain *Chain) {
	process := chain.process
	endpoints, err := chain.Listen()
	require.NoError(t, err)
	require.NoError(t, chain.Close())
	require.NoError(t, chain.Close(), "closing again")
	if process != nil {
		require.ErrorIs(t, syscall.Kill(-process.command.Process.Pid, 0), syscall.ESRCH, "no process of the chain is left")
		if folder := process.command.Dir; folder != "" {
			require.NoDirExists(t, folder)
		}
	}
	for _, endpoint := range []string{endpoints.RPC, endpoints.WS} {
		parsed, err := url.Parse(endpoint)
		require.NoError(t, err)
		listener, err := net.Listen("tcp", parsed.Host)
		require.NoError(t, err, "the port is free again")
		require.NoError(t, listener.Close())
	}
}

func TestExternalChain(t *testing.T) {
	own := start(t, Process)
	keyFile := filepath.Join(t.TempDir(), "authority.json")
	require.NoError(t, os.WriteFile(keyFile, keygenFile(t, own.UpgradeAuthority), 0o600))
	t.Setenv(EnvRPCURL, own.RPCURL())
	t.Setenv(EnvWSURL, own.WSURL())
	t.Setenv(EnvUpgradeAuthority, keyFile)

	chain, err := StartChain(t.Context(), Options{})
	require.NoError(t, err)
	require.Equal(t, External, chain.Kind)
	require.Equal(t, own.UpgradeAuthority, chain.UpgradeAuthority)
	fundsAccounts(t, chain)
	now, err := chain.Now(t.Context())
	require.NoError(t, err)
	require.NoError(t, own.AdvanceTo(t.Context(), now+3600))
	require.NoError(t, chain.AdvanceTo(t.Context(), now+3600), "the chain's owner has set its clock")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, chain.AdvanceTo(ctx, now+7200), context.DeadlineExceeded, "the clock is not this client's")
	require.NoError(t, chain.Close())
	fundsAccounts(t, own)

	_, err = StartChain(t.Context(), Options{ProgramID: newKey(t).PublicKey()})
	require.ErrorIs(t, err, rpc.ErrNotFound, "the program is not there")
}

func keygenFile(t *testing.T, key solana.PrivateKey) []byte {
	t.Helper()
	numbers := make([]int, len(key))
	for i, value := range key {
		numbers[i] = int(value)
	}
	content, err := json.Marshal(numbers)
	require.NoError(t, err)
	return content
}

func TestWebSocketURL(t *testing.T) {
	for given, want := range map[string]string{
		"http://127.0.0.1:8899":    "ws://127.0.0.1:8900",
		"http://[::1]:8899":        "ws://[::1]:8900",
		"https://rpc.example/path": "wss://rpc.example/path",
	} {
		derived, err := webSocketURL(given)
		require.NoError(t, err)
		require.Equal(t, want, derived)
	}
	for _, given := range []string{"127.0.0.1:8899", "ftp://host", "http://host:65535"} {
		_, err := webSocketURL(given)
		require.Error(t, err, given)
	}
}
