package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/store/internal/queries"
)

var _ policy.Store = (*Store)(nil)

// UsageLog implements [policy.Store].
func (s *Store) UsageLog(wallet solana.PublicKey) policy.Log {
	return &usageLog{store: s, wallet: wallet}
}

// usageLog is a policy's position in a wallet's usage log. A wallet's records are numbered. Append uses the
// next number, in a single transaction that changes nothing if another policy has used this number.
type usageLog struct {
	store  *Store
	wallet solana.PublicKey

	lock sync.Mutex
	// last is the number of the last record returned or appended.
	last int64
}

// Next implements [policy.Log]. It reads all records before yielding any, because the loop may write to the
// database.
func (l *usageLog) Next(ctx context.Context) iter.Seq2[policy.Record, error] {
	return func(yield func(policy.Record, error) bool) {
		l.lock.Lock()
		defer l.lock.Unlock()
		rows, err := l.store.queries.UsageRecords(ctx, l.wallet.String(), l.last)
		if err != nil {
			yield(policy.Record{}, l.store.failed(ctx, err))
			return
		}
		for _, row := range rows {
			record, err := decodeUsage(row.Record)
			if err == nil && record.Wallet != l.wallet {
				err = fmt.Errorf("record of wallet %s", record.Wallet)
			}
			if err != nil {
				yield(policy.Record{}, l.store.damaged(fmt.Sprintf("usage record %d of %s", row.Number, l.wallet), err))
				return
			}
			l.last = row.Number
			if !yield(record, nil) {
				return
			}
		}
	}
}

func decodeUsage(encoded string) (record policy.Record, err error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(encoded)))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&record)
	return record, err
}

// Append implements [policy.Log].
func (l *usageLog) Append(ctx context.Context, record policy.Record) error {
	return l.write(ctx, record, false)
}

// Replace implements [policy.Log].
func (l *usageLog) Replace(ctx context.Context, record policy.Record) error {
	return l.write(ctx, record, true)
}

func (l *usageLog) write(ctx context.Context, record policy.Record, replace bool) error {
	encoded, err := json.Marshal(record)
	if err != nil {
		return err
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	wallet, next := l.wallet.String(), l.last+1
	err = l.store.write(ctx, func(q *queries.Queries) error {
		if l.last == 0 {
			if err := q.CreateUsageLog(ctx, wallet); err != nil {
				return err
			}
		}
		// The log's row is locked until the commit, so another policy's append waits and then changes nothing.
		advanced, err := q.AdvanceUsageLog(ctx, wallet, l.last)
		if err != nil {
			return err
		}
		if advanced == 0 {
			return policy.ErrBehind
		}
		if replace {
			if err := q.DeleteUsageRecords(ctx, wallet, next); err != nil {
				return err
			}
		}
		return q.AddUsageRecord(ctx, wallet, next, string(encoded))
	})
	if err == nil {
		l.last = next
	}
	return err
}
