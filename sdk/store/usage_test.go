package store_test

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

var friend = solana.PublicKey{1}

// fee is the fee per payment, in lamports.
const fee = 5_000

// limited returns a policy with a limit per day in lamports.
func limited(t *testing.T, state policy.Store, me *wallet.Keypair, perDay uint64) *policy.Policy {
	t.Helper()
	limits := policy.Limits{
		PerTransaction: policy.Unlimited, PerNegotiation: policy.Unlimited, PerCounterparty: policy.Unlimited,
		PerDay: perDay, ApproveAbove: policy.Unlimited,
	}
	signer, err := policy.New(t.Context(), me, policy.Config{
		Lamports: limits, Tokens: map[solana.PublicKey]policy.TokenLimits{},
		Instructions: []string{policy.TransferLamports}, Store: state,
	})
	require.NoError(t, err)
	return signer
}

// payment returns a message that pays an amount. Each number makes a different message.
func payment(t *testing.T, from solana.PublicKey, amount, number uint64) []byte {
	t.Helper()
	var blockhash solana.Hash
	binary.LittleEndian.PutUint64(blockhash[:], number)
	transfer := system.NewTransferInstruction(amount, from, friend).Build()
	tx, err := solana.NewTransaction([]solana.Instruction{transfer}, blockhash, solana.TransactionPayer(from))
	require.NoError(t, err)
	message, err := tx.Message.MarshalBinary()
	require.NoError(t, err)
	return message
}

func TestPoliciesNeverExceedALimitTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		me := newKeypair(t)
		const processes, each, allowed = 3, 15, 20
		var signed, number atomic.Int64
		var running sync.WaitGroup
		for range processes {
			state := open()
			// Two policies in each process, too.
			for range 2 {
				signer := limited(t, state, me, allowed*(1+fee))
				running.Go(func() {
					for range each {
						message := payment(t, me.PublicKey(), 1, uint64(number.Add(1)))
						switch _, err := signer.SignMessage(context.Background(), message); {
						case err == nil:
							signed.Add(1)
						case !errors.Is(err, policy.ErrDenied):
							t.Error(err)
						}
					}
				})
			}
		}
		running.Wait()
		require.EqualValues(t, allowed, signed.Load())
		require.EqualValues(t, allowed*(1+fee), limited(t, open(), me, 1).Used(solana.PublicKey{}), "a restart")
	})
}

func TestUsageOfEachWalletIsItsOwn(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		state := open()
		for range 2 {
			me := newKeypair(t)
			_, err := limited(t, state, me, 100+fee).SignMessage(t.Context(), payment(t, me.PublicKey(), 100, 1))
			require.NoError(t, err)
		}
	})
}

func TestSnapshotReplacesRecordsForAllPolicies(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		me := newKeypair(t)
		first, second := limited(t, open(), me, policy.Unlimited), limited(t, open(), me, policy.Unlimited)
		const messages = 600 // over a thousand records
		for i := range uint64(messages) {
			signer := first
			if i%50 == 0 {
				signer = second
			}
			_, err := signer.SignMessage(t.Context(), payment(t, me.PublicKey(), 1, i))
			require.NoError(t, err)
		}
		require.Less(t, len(records(t, open().UsageLog(me.PublicKey()))), messages)
		_, err := second.SignMessage(t.Context(), payment(t, me.PublicKey(), 1, messages))
		require.NoError(t, err)
		require.EqualValues(t, (messages+1)*(1+fee), second.Used(solana.PublicKey{}))
		third := limited(t, open(), me, policy.Unlimited)
		require.EqualValues(t, (messages+1)*(1+fee), third.Used(solana.PublicKey{}))
	})
}

func records(t *testing.T, log policy.Log) (found []policy.Record) {
	t.Helper()
	for record, err := range log.Next(t.Context()) {
		require.NoError(t, err)
		found = append(found, record)
	}
	return found
}

func TestUsageLogThatIsBehindChangesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		wallet := newKeypair(t).PublicKey()
		state := open()
		first, second := state.UsageLog(wallet), state.UsageLog(wallet)
		record := policy.Record{Kind: policy.RecordApproved, Wallet: wallet, Intent: policy.Digest{1}}
		require.NoError(t, first.Append(t.Context(), record))
		require.ErrorIs(t, second.Append(t.Context(), record), policy.ErrBehind)
		require.ErrorIs(t, second.Replace(t.Context(), record), policy.ErrBehind)
		require.Equal(t, []policy.Record{record}, records(t, second))
		require.Empty(t, records(t, second))
		require.NoError(t, second.Replace(t.Context(), record))
		require.ErrorIs(t, first.Append(t.Context(), record), policy.ErrBehind, "the number is not used again")
		require.Equal(t, []policy.Record{record}, records(t, first))
		require.NoError(t, first.Append(t.Context(), record))
	})
}

func TestCancelledWriteReturnsTheContextsError(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		state, wallet := open(), newKeypair(t).PublicKey()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		record := policy.Record{Kind: policy.RecordApproved, Wallet: wallet}
		require.ErrorIs(t, state.UsageLog(wallet).Append(ctx, record), context.Canceled)
		require.NoError(t, state.UsageLog(wallet).Append(t.Context(), record), "the database is usable")
	})
}
