package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"time"

	"github.com/haggle-protocol/haggle/sdk/keeper"
	"github.com/haggle-protocol/haggle/sdk/store/internal/queries"
)

var _ keeper.Store = (*Store)(nil)

const day = 24 * time.Hour

// now returns the database clock's time, in milliseconds since 1970.
func (s *Store) now(ctx context.Context, q *queries.Queries) (int64, error) {
	if s.database.Postgres {
		return q.ServerTime(ctx)
	}
	return time.Now().UnixMilli(), nil
}

// ReserveExpense implements [keeper.Store].
func (s *Store) ReserveExpense(
	ctx context.Context, budget keeper.Budget, lamports uint64,
) (id string, retryIn time.Duration, err error) {
	if lamports > math.MaxInt64 {
		return "", 0, fmt.Errorf("expense of %d lamports: more than exist", lamports)
	}
	wallet := budget.Wallet.String()
	err = s.write(ctx, func(q *queries.Queries) error {
		if err := q.LockBudget(ctx, wallet, budget.Name); err != nil {
			return err
		}
		now, err := s.now(ctx, q)
		if err != nil {
			return err
		}
		if err := q.MoveLaterExpenses(ctx, now, wallet, budget.Name); err != nil {
			return err
		}
		if err := q.DeleteOldExpenses(ctx, wallet, budget.Name, now-day.Milliseconds()); err != nil {
			return err
		}
		used, err := q.SumExpenses(ctx, now, wallet, budget.Name)
		if err != nil {
			return err
		}
		// Both are less than 2^63, so the sum does not overflow.
		if uint64(used.Lamports)+lamports > budget.Limit {
			retryIn = time.Duration(used.Oldest-now)*time.Millisecond + day
			return nil
		}
		id = rand.Text()
		return q.AddExpense(ctx, queries.AddExpenseParams{
			ID: id, Wallet: wallet, Budget: budget.Name, SpentAt: now, Lamports: int64(lamports),
		})
	})
	if err != nil {
		return "", 0, err
	}
	return id, retryIn, nil
}

// SettleExpense implements [keeper.Store].
func (s *Store) SettleExpense(ctx context.Context, id string, lamports uint64) error {
	if lamports > math.MaxInt64 {
		return fmt.Errorf("expense of %d lamports: more than exist", lamports)
	}
	return s.write(ctx, func(q *queries.Queries) error {
		var changed int64
		now, err := s.now(ctx, q)
		switch {
		case err != nil:
			return err
		case lamports == 0:
			changed, err = q.DeleteExpense(ctx, id)
		default:
			changed, err = q.SettleExpense(ctx, int64(lamports), now, id)
		}
		if err == nil && changed == 0 {
			err = fmt.Errorf("unknown expense %s", id)
		}
		return err
	})
}
