package policy_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// compacting is a store that needs compaction at once: logs contain a thousand additional empty records.
type compacting struct{ policy.MemoryStore }

func (c *compacting) UsageLog(wallet solana.PublicKey) policy.Log {
	return &compactingLog{Log: c.MemoryStore.UsageLog(wallet), wallet: wallet}
}

type compactingLog struct {
	policy.Log
	wallet solana.PublicKey
	read   bool
}

func (c *compactingLog) Next(ctx context.Context) iter.Seq2[policy.Record, error] {
	return func(yield func(policy.Record, error) bool) {
		for record, err := range c.Log.Next(ctx) {
			if !yield(record, err) {
				return
			}
		}
		if c.read {
			return
		}
		c.read = true
		for range 1_000 {
			if !yield(policy.Record{Kind: policy.RecordApproved, Wallet: c.wallet}, nil) {
				return
			}
		}
	}
}

// For any signatures and outcomes, usage is the same when restarted from all records, from a snapshot, and
// when not restarted. It never exceeds a limit, and becomes empty when everything has expired.
func TestUsageIsTheSameAfterARestart(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		stores := []policy.Store{&policy.MemoryStore{}, &compacting{}}
		var stages []*stage
		me := newKeypair(t)
		for _, store := range stores {
			s := newStage(t, func(c *policy.Config) { c.Store = store })
			s.me, s.signer = me, &countingSigner{Signer: me}
			s.restart()
			stages = append(stages, s)
		}
		counterparties := []solana.PublicKey{friend, thief}
		var signed [][]byte
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			step := rapid.IntRange(0, 9).Draw(r, "step")
			session := rapid.Uint64Range(0, 2).Draw(r, "session")
			who := rapid.SampledFrom(counterparties).Draw(r, "who")
			amount := rapid.SampledFrom([]uint64{1, 1_000_000, 2_500_000}).Draw(r, "amount")
			deal := rapid.Int64Range(1, 3).Draw(r, "deal")
			outcome := rapid.SampledFrom([]transaction.Outcome{transaction.Confirmed, transaction.Failed, transaction.Expired}).Draw(r, "outcome")
			at := rapid.IntRange(0, 99).Draw(r, "at")
			for i, s := range stages {
				switch {
				case step < 4:
					if message := s.message(s.create(who, session, amount)); s.signMessage(message) == nil && i == 0 {
						signed = append(signed, message)
					}
				case step < 6:
					message := s.message(s.offerOn(deal, s.negotiation(s.wallet(), who, session), 0, 1))
					if s.signMessage(message) == nil && i == 0 {
						signed = append(signed, message)
					}
				case step < 9 && len(signed) > 0:
					s.policy.Settle(context.Background(), signed[at%len(signed)], outcome)
				case step == 9:
					s.now = s.now.Add(90 * time.Minute) // nothing is pruned yet
				}
			}
			stages[1].restart()
			for _, key := range []solana.PublicKey{mint, lamports} {
				require.Equal(r, stages[0].policy.Used(key), stages[1].policy.Used(key))
				require.Equal(r, stages[0].policy.UsedWith(who, key), stages[1].policy.UsedWith(who, key))
				address := stages[0].negotiation(me.PublicKey(), who, session)
				require.Equal(r, stages[0].policy.UsedOn(address, key), stages[1].policy.UsedOn(address, key))
			}
			require.LessOrEqual(r, stages[0].policy.Used(mint), uint64(mostPerDay))
			require.LessOrEqual(r, stages[0].policy.UsedWith(friend, mint), uint64(mostPerCounterparty))
		}
		stages[0].restart()
		confirmed := false
		records, _ := stages[0].records()
		for _, record := range records {
			confirmed = confirmed || record.Outcome == transaction.Confirmed || record.Outcome == transaction.Failed
		}
		for _, message := range signed {
			stages[0].policy.Settle(context.Background(), message, transaction.Expired)
		}
		if !confirmed {
			require.Zero(r, stages[0].policy.Used(mint))
			require.Zero(r, stages[0].policy.Used(lamports))
			require.Zero(r, stages[0].policy.UsedWith(friend, mint))
		}
	})
}
