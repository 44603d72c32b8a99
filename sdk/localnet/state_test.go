package localnet

import (
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet/jsonrpc"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestSnapshotOfAChain(t *testing.T) {
	net, err := Start(t.Context(), Options{Kind: Process})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	account := associatedWith(t, net.Buyer.PublicKey(), net.Mint, solana.TokenProgramID)
	prepared, err := net.Chain.Snapshot()
	require.NoError(t, err)
	began, err := net.Chain.Now(t.Context())
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, net.Chain.MintTo(t.Context(), net.Mint, account, 7))
		requireTokens(t, net.Chain, account, StartTokens+7)
		require.NoError(t, net.Chain.AdvanceTime(t.Context(), 24*time.Hour-time.Millisecond))
		later, err := net.Chain.Now(t.Context())
		require.NoError(t, err)
		require.InDelta(t, began+24*3600, later, 10)

		require.NoError(t, net.Chain.Restore(t.Context(), prepared))
		requireTokens(t, net.Chain, account, StartTokens)
		later, err = net.Chain.Now(t.Context())
		require.NoError(t, err)
		require.InDelta(t, began, later, 10)
	}
	other := start(t, Process)
	require.ErrorContains(t, other.Restore(t.Context(), prepared), "another chain")
}

func TestCloneAccounts(t *testing.T) {
	program := solana.NewWallet().PublicKey()
	from, err := StartChain(t.Context(), Options{Kind: Process, ProgramID: program})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, from.Close()) })
	mint, err := from.CreateMint(t.Context(), Decimals)
	require.NoError(t, err)
	owner := solana.NewWallet()
	account, err := from.CreateTokenAccount(t.Context(), mint, owner.PublicKey())
	require.NoError(t, err)
	require.NoError(t, from.MintTo(t.Context(), mint, account, 9))
	to := start(t, Process)

	// Nothing is copied if something is wrong.
	missing := solana.NewWallet().PublicKey()
	require.ErrorContains(t, to.CloneAccounts(t.Context(), from.Client(), mint, missing), "account "+missing.String()+" does not exist")
	require.ErrorContains(t, to.CloneAccounts(t.Context(), from.Client(), mint, solana.SysVarClockPubkey), "is a sysvar")
	_, err = to.mintInfo(t.Context(), mint)
	require.Error(t, err)

	require.NoError(t, to.CloneAccounts(t.Context(), from.Client(), mint, account, program))
	requireTokens(t, to, account, 9)
	copied, err := to.Client().GetAccountInfo(t.Context(), program)
	require.NoError(t, err)
	require.True(t, copied.Value.Executable)
	// The program runs, and refuses the wrong address. Tokens can be moved.
	_, err = to.Send(t.Context(), nil, solana.NewInstruction(program, nil, []byte{255}))
	require.ErrorContains(t, err, "DeclaredProgramIdMismatch")
	require.NoError(t, to.Fund(t.Context(), owner.PublicKey(), solana.LAMPORTS_PER_SOL))
	second, err := to.CreateTokenAccount(t.Context(), mint, solana.NewWallet().PublicKey())
	require.NoError(t, err)
	err = to.Transfer(t.Context(), mint, account, second, owner.PrivateKey, 4)
	require.NoError(t, err)
	requireTokens(t, to, second, 4)
}

func TestOtherChainsCannotBeChangedFromOutside(t *testing.T) {
	chain := &Chain{Kind: External}
	_, err := chain.Snapshot()
	require.ErrorIs(t, err, ErrNotInProcess)
	require.ErrorIs(t, chain.Restore(t.Context(), &Snapshot{}), ErrNotInProcess)
	require.ErrorIs(t, chain.LoadProgram(solana.PublicKey{1}, nil, solana.PublicKey{}), ErrNotInProcess)
	require.ErrorIs(t, chain.SetAccount(solana.PublicKey{1}, rpc.Account{}), ErrNotInProcess)
	require.ErrorIs(t, chain.CloneAccounts(t.Context(), nil), ErrNotInProcess)
	require.ErrorIs(t, chain.SetFaults(jsonrpc.Faults{}), ErrNotInProcess)
	require.ErrorIs(t, chain.ExpireBlockhashes(), ErrNotInProcess)
}

func TestAccountsAndProgramsFromOutside(t *testing.T) {
	chain := start(t, Process)
	address := solana.NewWallet().PublicKey()
	require.NoError(t, chain.SetAccount(address, rpc.Account{Lamports: 5_000_000, Owner: solana.SystemProgramID}))
	lamports, err := chain.Balance(t.Context(), address)
	require.NoError(t, err)
	require.EqualValues(t, 5_000_000, lamports)
	require.Error(t, chain.LoadProgram(solana.NewWallet().PublicKey(), []byte("text"), solana.PublicKey{}))
}

// An agent's node loses requests and responses, and the payment happens once.
func TestFaultsOnDemand(t *testing.T) {
	net, err := Start(t.Context(), Options{Kind: Process})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	lost, served := 0, 0
	require.NoError(t, net.Chain.SetFaults(jsonrpc.Faults{LoseRequests: 0.3, LoseAnswers: 0.3, Delay: time.Millisecond, Seed: 1}))
	for range 100 {
		if _, err := net.Chain.Client().GetSlot(t.Context(), rpc.CommitmentConfirmed); err != nil {
			lost++
		} else {
			served++
		}
	}
	require.Greater(t, lost, 30)
	require.Greater(t, served, 30)

	// A lost response is not a lost transaction.
	address := solana.NewWallet().PublicKey()
	require.NoError(t, net.Chain.SetFaults(jsonrpc.Faults{LoseAnswers: 1}))
	_, err = net.Chain.Client().RequestAirdrop(t.Context(), address, solana.LAMPORTS_PER_SOL, rpc.CommitmentConfirmed)
	require.Error(t, err)
	require.NoError(t, net.Chain.SetFaults(jsonrpc.Faults{}))
	require.Eventually(t, func() bool {
		lamports, err := net.Chain.Balance(t.Context(), address)
		require.NoError(t, err)
		return lamports == solana.LAMPORTS_PER_SOL
	}, 10*time.Second, 10*time.Millisecond)
}

func TestExpiredBlockhashes(t *testing.T) {
	chain := start(t, Process)
	latest, err := chain.Client().GetLatestBlockhash(t.Context(), rpc.CommitmentConfirmed)
	require.NoError(t, err)
	require.NoError(t, chain.ExpireBlockhashes())
	valid, err := chain.Client().IsBlockhashValid(t.Context(), latest.Value.Blockhash, rpc.CommitmentConfirmed)
	require.NoError(t, err)
	require.False(t, valid.Value)
}

func TestClientsNeedNoPort(t *testing.T) {
	net, err := Start(t.Context(), Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	watched, err := net.Client.Watch(t.Context(), net.Buyer.PublicKey())
	require.NoError(t, err)
	watched.Close()
	require.Empty(t, net.Chain.local.endpoints)
	require.Equal(t, "in this process", net.Chain.String())
	endpoints, err := net.Chain.Listen()
	require.NoError(t, err)
	require.Equal(t, endpoints.RPC, net.Chain.RPCURL())
	slot, err := rpc.New(endpoints.RPC).GetSlot(t.Context(), rpc.CommitmentProcessed)
	require.NoError(t, err)
	require.Positive(t, slot)
}

func TestNodeBehindAndFork(t *testing.T) {
	net, err := Start(t.Context(), Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	node, err := net.Chain.AddNode(20)
	require.NoError(t, err)
	behind := rpc.New(node.RPCURL)
	address := newKey(t).PublicKey()
	require.NoError(t, net.Chain.Fund(t.Context(), address, solana.LAMPORTS_PER_SOL))
	balance, err := behind.GetBalance(t.Context(), address, rpc.CommitmentProcessed)
	require.NoError(t, err)
	require.Zero(t, balance.Value)
	require.Eventually(t, func() bool {
		balance, err := behind.GetBalance(t.Context(), address, rpc.CommitmentConfirmed)
		return err == nil && balance.Value == solana.LAMPORTS_PER_SOL
	}, time.Minute, 10*time.Millisecond)

	// A client notices that the first node is behind, and reads its own transaction from the second node.
	config := net.Chain.ClientConfig()
	config.Fallbacks, config.WSFallbacks = []string{config.Endpoint}, []string{config.WSEndpoint}
	config.Endpoint, config.WSEndpoint = node.RPCURL, node.WSURL
	client, err := haggle.NewClient(config)
	require.NoError(t, err)
	defer client.Close()
	action, err := client.CreateNegotiation(haggle.CreateRequest{
		Buyer: net.Buyer.PublicKey(), Seller: net.Seller.PublicKey(), Mint: net.Mint, Decimals: Decimals,
		ServiceHash: protocol.ServiceHash("a service"), EscrowAmount: 5_000_000, Key: "order 1",
	}).Build(t.Context())
	require.NoError(t, err)
	receipt, err := action.Do(t.Context(), net.Buyer)
	require.NoError(t, err)
	negotiation, err := client.Negotiation(action.Negotiation).Snapshot(t.Context())
	require.NoError(t, err)
	require.Equal(t, net.Buyer.PublicKey(), negotiation.Buyer)

	slot, err := net.Chain.Client().GetSlot(t.Context(), rpc.CommitmentProcessed)
	require.NoError(t, err)
	require.NoError(t, net.Chain.Fork(int(slot-receipt.Slot)+2), "one more for a block that is opened meanwhile")
	_, err = net.Client.Negotiation(action.Negotiation).Snapshot(t.Context())
	require.ErrorIs(t, err, protocol.ErrAccountNotFound, "the fork without it has won")
}
