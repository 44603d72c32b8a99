package postgres_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/testpostgres"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/policy/postgres"
	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// server is the PostgreSQL server of all tests.
var server *testpostgres.Server

func TestMain(m *testing.M) { os.Exit(testpostgres.Run(m, &server)) }

var friend = solana.PublicKey{1}

func newKeypair(t *testing.T) *wallet.Keypair {
	t.Helper()
	me, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	return me
}

func open(t *testing.T, address string, wallet solana.PublicKey) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), address+"&pool_max_conns=2", wallet)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return store
}

// process is a policy with a limit per day, as another process on the same database has one.
func process(
	t *testing.T, address string, me *wallet.Keypair, perDay uint64, change ...func(*policy.Config),
) *policy.Policy {
	t.Helper()
	unlimited := policy.Limits{
		PerTransaction: policy.Unlimited, PerNegotiation: policy.Unlimited, PerCounterparty: policy.Unlimited,
		PerDay: perDay, ApproveAbove: policy.Unlimited,
	}
	config := policy.Config{
		Lamports: unlimited, Tokens: map[solana.PublicKey]policy.TokenLimits{},
		Instructions: []string{policy.TransferLamports}, Store: open(t, address, me.PublicKey()),
	}
	for _, c := range change {
		c(&config)
	}
	signer, err := policy.New(t.Context(), me, config)
	require.NoError(t, err)
	return signer
}

const fee = 5_000

// payment is a message that pays an amount. Each number makes another one.
func payment(t *testing.T, from solana.PublicKey, amount, number uint64) []byte {
	t.Helper()
	var blockhash solana.Hash
	binary.LittleEndian.PutUint64(blockhash[:], number)
	transfer := system.NewTransferInstruction(amount, from, friend).Build()
	tx, err := solana.NewTransaction(
		[]solana.Instruction{transfer}, blockhash, solana.TransactionPayer(from))
	require.NoError(t, err)
	message, err := tx.Message.MarshalBinary()
	require.NoError(t, err)
	return message
}

func TestProcessesNeverExceedALimitTogether(t *testing.T) {
	address, me := server.Create(t), newKeypair(t)
	const processes, each, allowed = 4, 15, 20
	var signed, number atomic.Int64
	var running sync.WaitGroup
	for range processes {
		signer := process(t, address, me, allowed*(1+fee))
		// Two goroutines in each process, too.
		for range 2 {
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
	require.EqualValues(t, allowed*(1+fee), process(t, address, me, 1).Used(solana.PublicKey{}), "a restart")
}

// expiredFirst is the evidence that the payment with the number 1 has expired.
type expiredFirst struct{}

func (expiredFirst) Outcome(_ context.Context, tx policy.SignedTransaction) transaction.Outcome {
	if tx.Blockhash[0] == 1 {
		return transaction.Expired
	}
	return transaction.Unknown
}

func (expiredFirst) Slot(context.Context) (uint64, error) { return 1, nil }

func TestProcessGivesBackWhatAnotherHasCounted(t *testing.T) {
	address, me := server.Create(t), newKeypair(t)
	now := time.Now()
	proven := func(c *policy.Config) {
		c.Evidence, c.Now = expiredFirst{}, func() time.Time { return now }
	}
	first, second := process(t, address, me, 100+fee, proven), process(t, address, me, 100+fee, proven)
	message := payment(t, me.PublicKey(), 100, 1)
	_, err := first.SignMessage(t.Context(), message)
	require.NoError(t, err)
	again := payment(t, me.PublicKey(), 100, 2)
	_, err = second.SignMessage(t.Context(), again)
	require.ErrorIs(t, err, policy.ErrDenied)
	now = now.Add(3 * time.Minute)
	require.Equal(t, 1, second.Reconcile(t.Context()))
	require.Zero(t, second.Used(solana.PublicKey{}))
	_, err = first.SignMessage(t.Context(), again)
	require.NoError(t, err)
	now = now.Add(3 * time.Minute)
	require.Zero(t, first.Reconcile(t.Context()))
	require.EqualValues(t, 100+fee, first.Used(solana.PublicKey{}), "it was given back once")
}

func TestUsageOfEachWalletIsItsOwn(t *testing.T) {
	address := server.Create(t)
	for range 2 {
		me := newKeypair(t)
		signer := process(t, address, me, 100+fee)
		_, err := signer.SignMessage(t.Context(), payment(t, me.PublicKey(), 100, 1))
		require.NoError(t, err)
	}
}

// A store that is replaced has one record, and the others go on from it.
func TestSnapshotReplacesRecordsForAll(t *testing.T) {
	address, me := server.Create(t), newKeypair(t)
	first, second := process(t, address, me, policy.Unlimited), process(t, address, me, policy.Unlimited)
	const messages = 700 // more than a thousand records
	for i := range uint64(messages) {
		signer := first
		if i%50 == 0 {
			signer = second
		}
		_, err := signer.SignMessage(t.Context(), payment(t, me.PublicKey(), 1, i))
		require.NoError(t, err)
	}
	count := 0
	for _, err := range open(t, address, me.PublicKey()).Records(t.Context()) {
		require.NoError(t, err)
		count++
	}
	require.Less(t, count, messages)
	_, err := second.SignMessage(t.Context(), payment(t, me.PublicKey(), 1, messages))
	require.NoError(t, err)
	third := process(t, address, me, policy.Unlimited)
	require.EqualValues(t, (messages+1)*(1+fee), second.Used(solana.PublicKey{}))
	require.EqualValues(t, (messages+1)*(1+fee), third.Used(solana.PublicKey{}))
}

func TestStoreThatIsBehindChangesNothing(t *testing.T) {
	address, wallet := server.Create(t), newKeypair(t).PublicKey()
	first, second := open(t, address, wallet), open(t, address, wallet)
	record := policy.Record{Kind: policy.RecordApproved, Wallet: wallet, Intent: policy.Digest{1}}
	require.NoError(t, first.Append(t.Context(), record))
	require.ErrorIs(t, second.Append(t.Context(), record), policy.ErrBehind)
	require.ErrorIs(t, second.Replace(t.Context(), record), policy.ErrBehind)
	further := func(store *postgres.Store) (found []policy.Record) {
		for record, err := range store.Further(t.Context()) {
			require.NoError(t, err)
			found = append(found, record)
		}
		return found
	}
	require.Equal(t, []policy.Record{record}, further(second))
	require.Empty(t, further(second))
	require.NoError(t, second.Replace(t.Context(), record))
	require.ErrorIs(t, first.Append(t.Context(), record), policy.ErrBehind, "the number is not used again")
	require.Equal(t, []policy.Record{record}, further(first))
	require.NoError(t, first.Append(t.Context(), record))
}

func TestServerWithoutDurableCommitsIsRefused(t *testing.T) {
	_, err := postgres.Open(t.Context(), server.Create(t)+"&synchronous_commit=off", friend)
	require.ErrorContains(t, err, "synchronous_commit")
}

func TestNoErrorQuotesAPassword(t *testing.T) {
	address := server.Create(t)
	for _, wrong := range []string{
		strings.Replace(address, "test_", "missing_", 1),
		strings.Replace(address, server.Folder, "/nowhere", 1),
		"postgres://me:not-printed@host:port/name",
	} {
		_, err := postgres.Open(t.Context(), wrong, friend)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "not-printed")
	}
}
