package policy_test

import (
	"context"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// sharedLog is a log in memory that several stores append to.
type sharedLog struct {
	lock    sync.Mutex
	records []policy.Record
	// dropped is the number of records that a snapshot has replaced.
	dropped int
}

// sharedStore is one process's store of a log.
type sharedStore struct {
	log  *sharedLog
	last int
}

func (s *sharedStore) Records(ctx context.Context) iter.Seq2[policy.Record, error] {
	s.last = 0
	return s.Further(ctx)
}

func (s *sharedStore) Further(context.Context) iter.Seq2[policy.Record, error] {
	s.log.lock.Lock()
	defer s.log.lock.Unlock()
	records := slices.Clone(s.log.records[max(0, s.last-s.log.dropped):])
	s.last = s.log.dropped + len(s.log.records)
	return func(yield func(policy.Record, error) bool) {
		for _, record := range records {
			if !yield(record, nil) {
				return
			}
		}
	}
}

func (s *sharedStore) Append(_ context.Context, record policy.Record) error {
	return s.write(func() { s.log.records = append(s.log.records, record) })
}

func (s *sharedStore) Replace(_ context.Context, record policy.Record) error {
	return s.write(func() { s.log.dropped, s.log.records = s.last, []policy.Record{record} })
}

func (s *sharedStore) write(change func()) error {
	s.log.lock.Lock()
	defer s.log.lock.Unlock()
	if s.last != s.log.dropped+len(s.log.records) {
		return policy.ErrBehind
	}
	change()
	s.last++
	return nil
}

// newShared returns two processes that sign for one wallet.
func newShared(t *testing.T) (first, second *stage) {
	t.Helper()
	log := &sharedLog{}
	first = newStage(t, func(c *policy.Config) { c.Store = &sharedStore{log: log} })
	second = newStage(t, func(c *policy.Config) { c.Store = &sharedStore{log: log} })
	second.me, second.signer = first.me, &countingSigner{Signer: first.me}
	second.restart()
	return first, second
}

func (s *stage) used() uint64 {
	s.t.Helper()
	_ = s.deniedMessage(policy.RuleMessage, []byte{0}) // reads what other processes have appended
	return s.policy.Used(mint)
}

func TestMessageThatAnotherProcessHasCountedIsNotGivenBackByAFailure(t *testing.T) {
	first, second := newShared(t)
	message := first.message(first.create(friend, 1, mostPerTransaction))
	require.NoError(t, first.signMessage(message))
	second.signer.instead = func(context.Context, []byte) (solana.Signature, error) {
		return solana.Signature{}, certainError(true)
	}
	require.Error(t, second.signMessage(message))
	require.EqualValues(t, mostPerTransaction, first.used())
	require.EqualValues(t, mostPerTransaction, second.used())
}

// during calls act while the process signs a message, and returns the signature's error.
func (s *stage) during(message []byte, act func()) error {
	s.t.Helper()
	s.signer.instead = func(ctx context.Context, message []byte) (solana.Signature, error) {
		act()
		return s.me.SignMessage(ctx, message)
	}
	defer func() { s.signer.instead = nil }()
	return s.signMessage(message)
}

func TestMessageThatAnotherProcessHasSettledIsNotSigned(t *testing.T) {
	first, second := newShared(t)
	message := first.message(first.create(friend, 1, mostPerTransaction))
	err := first.during(message, func() {
		require.EqualValues(t, mostPerTransaction, second.used())
		second.policy.Settle(t.Context(), message, transaction.Expired)
	})
	require.ErrorContains(t, err, "no longer counted")
	require.Zero(t, first.used())
}

func TestSnapshotOfAnotherProcessKeepsTheAttempts(t *testing.T) {
	first, second := newShared(t)
	message := first.message(first.create(friend, 1, mostPerTransaction))
	compact := func() {
		require.EqualValues(t, mostPerTransaction, second.used())
		for range 1_000 {
			require.NoError(t, second.config.Store.Append(t.Context(), policy.Record{
				Kind: policy.RecordApproved, Wallet: second.wallet(), Intent: policy.Digest{1},
				Time: second.now.Unix(),
			}))
		}
		second.restart()
		require.Less(t, len(second.config.Store.(*sharedStore).log.records), 10)
	}
	require.NoError(t, first.during(message, compact))
	// Either process settles it, once.
	second.policy.Settle(t.Context(), message, transaction.Expired)
	first.policy.Settle(t.Context(), message, transaction.Expired)
	require.Zero(t, first.used())
	require.Zero(t, second.used())
}

// A process with a clock that is ahead has pruned a message that another process settles.
func TestRecordAboutForgottenUsageIsApplied(t *testing.T) {
	first, second := newShared(t)
	message := first.message(first.create(friend, 1, mostPerTransaction))
	require.NoError(t, first.signMessage(message))
	second.now = second.now.Add(49 * time.Hour)
	require.NoError(t, second.sign(second.create(friend, 2, 1_000_000)))
	first.policy.Settle(t.Context(), message, transaction.Expired)
	require.NoError(t, second.sign(second.create(friend, 3, 1_000_000)))
	require.EqualValues(t, 2_000_000, second.policy.UsedWith(friend, mint))
	require.NoError(t, first.sign(first.create(friend, 4, 1_000_000)))
	require.EqualValues(t, 3_000_000, first.policy.UsedWith(friend, mint))
}
