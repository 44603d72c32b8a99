package policy_test

import (
	"context"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// newShared returns two processes signing with the same wallet.
func newShared(t *testing.T) (first, second *stage) {
	t.Helper()
	store := &policy.MemoryStore{}
	first = newStage(t, func(c *policy.Config) { c.Store = store })
	second = newStage(t, func(c *policy.Config) { c.Store = store })
	second.me, second.signer = first.me, &countingSigner{Signer: first.me}
	second.restart()
	return first, second
}

// records returns all usage records of the wallet, and a log positioned at the end.
func (s *stage) records() (found []policy.Record, log policy.Log) {
	s.t.Helper()
	log = s.config.Store.UsageLog(s.wallet())
	for record, err := range log.Next(s.t.Context()) {
		require.NoError(s.t, err)
		found = append(found, record)
	}
	return found, log
}

func TestPoliciesOnOneStoreCountTogether(t *testing.T) {
	first, second := newShared(t)
	var signed uint64
	for session := range uint64(24) {
		for i, s := range []*stage{first, second} {
			seller := newKeypair(t).PublicKey()
			if s.signMessage(s.message(s.create(seller, 2*session+uint64(i), 1_000_000))) == nil {
				signed += 1_000_000
			}
		}
	}
	require.EqualValues(t, mostPerDay, signed)
}

func TestUsageOfEachWalletIsItsOwn(t *testing.T) {
	store := &policy.MemoryStore{}
	for range 2 {
		s := newStage(t, func(c *policy.Config) { c.Store = store })
		require.NoError(t, s.sign(s.create(friend, 1, mostPerTransaction)))
	}
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

// during calls act while the process signs, and returns the signing error.
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
		_, log := second.records()
		for range 1_000 {
			require.NoError(t, log.Append(t.Context(), policy.Record{
				Kind: policy.RecordApproved, Wallet: second.wallet(), Intent: policy.Digest{1},
				Time: second.now.Unix(),
			}))
		}
		second.restart()
		left, _ := second.records()
		require.Less(t, len(left), 10)
	}
	require.NoError(t, first.during(message, compact))
	// Either process settles it, once.
	second.policy.Settle(t.Context(), message, transaction.Expired)
	first.policy.Settle(t.Context(), message, transaction.Expired)
	require.Zero(t, first.used())
	require.Zero(t, second.used())
}

// A process with a fast clock prunes a message before another process settles it.
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

// Records that do not follow from each other are not added up.
func TestRecordsHaveToFit(t *testing.T) {
	s := newStage(t)
	counted := policy.Record{Kind: policy.RecordCounted, Wallet: s.wallet(), Message: policy.Digest{1}, Spends: []policy.Spend{{Mint: mint, Amount: 5}}}
	settled := policy.Record{Kind: policy.RecordSettled, Wallet: s.wallet(), Message: policy.Digest{1}, Outcome: transaction.Expired}
	for name, records := range map[string][]policy.Record{
		"signed before it is counted":  {{Kind: policy.RecordSigned, Wallet: s.wallet()}},
		"settled before it is counted": {settled},
		"settled twice":                {counted, settled, settled},
		"of no kind":                   {{Wallet: s.wallet()}},
	} {
		s.config.Store = &policy.MemoryStore{}
		_, log := s.records()
		for _, record := range records {
			require.NoError(t, log.Append(context.Background(), record))
		}
		_, err := policy.New(context.Background(), s.signer, s.config)
		require.Error(t, err, name)
	}
	// A store that fails after writing receives the record again.
	counted.Day = s.now.Unix() / (24 * 60 * 60)
	s.config.Store = &policy.MemoryStore{}
	_, log := s.records()
	for range 2 {
		require.NoError(t, log.Append(context.Background(), counted))
	}
	s.restart()
	require.EqualValues(t, 5, s.policy.Used(mint), "it counts once")
}
