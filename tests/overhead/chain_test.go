package overhead_test

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet"
)

// BenchmarkChain measures both kinds of chains: the start including the program, the response to a sent
// transfer including the simulation, and the time until another transfer is confirmed.
func BenchmarkChain(b *testing.B) {
	for _, kind := range []localnet.Kind{localnet.Process, localnet.Validator} {
		if kind == localnet.Validator && !localnet.HasValidator(b.Context()) {
			b.Log("no validator: run make validator")
			continue
		}
		name := "/" + string(kind)
		b.Run("start"+name, func(b *testing.B) {
			for b.Loop() {
				chain := startChain(b, kind)
				b.StopTimer()
				require.NoError(b, chain.Close())
				b.StartTimer()
			}
		})
		chain := startChain(b, kind)
		b.Run("answer"+name, func(b *testing.B) { benchmarkAnswer(b, chain) })
		b.Run("confirmation"+name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, chain.Fund(b.Context(), chain.Faucet(), 1))
			}
		})
		require.NoError(b, chain.Close())
	}
}

func startChain(b *testing.B, kind localnet.Kind) *localnet.Chain {
	b.Helper()
	chain, err := localnet.StartChain(b.Context(), localnet.Options{Kind: kind})
	require.NoError(b, err)
	return chain
}

// benchmarkAnswer sends transfers that differ in their amounts, until the node has passed each on or executed it.
func benchmarkAnswer(b *testing.B, chain *localnet.Chain) {
	payer := solana.NewWallet()
	require.NoError(b, chain.Fund(b.Context(), payer.PublicKey(), 100*solana.LAMPORTS_PER_SOL))
	lamports := uint64(0)
	for b.Loop() {
		b.StopTimer()
		latest, err := chain.Client().GetLatestBlockhash(b.Context(), rpc.CommitmentConfirmed)
		require.NoError(b, err)
		lamports++
		transaction, err := solana.NewTransaction([]solana.Instruction{
			system.NewTransferInstruction(lamports, payer.PublicKey(), payer.PublicKey()).Build(),
		}, latest.Value.Blockhash, solana.TransactionPayer(payer.PublicKey()))
		require.NoError(b, err)
		_, err = transaction.Sign(func(solana.PublicKey) *solana.PrivateKey { return &payer.PrivateKey })
		require.NoError(b, err)
		b.StartTimer()
		_, err = chain.Client().SendTransactionWithOpts(b.Context(), transaction,
			rpc.TransactionOpts{PreflightCommitment: rpc.CommitmentConfirmed})
		require.NoError(b, err)
	}
}
