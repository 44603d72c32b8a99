package keeper

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
)

const day = 24 * time.Hour

// Budget limits the keeper expenses paid by a wallet within 24 hours.
type Budget struct {
	// Wallet pays the expenses.
	Wallet solana.PublicKey
	// Name distinguishes a wallet's budgets.
	Name string
	// Limit is in lamports. Unlimited sets no limit.
	Limit uint64
}

// Store stores the expenses of keepers. All keepers of the same wallet and database share the budgets, even
// across processes. Packages store/sqlite and store/postgres open a Store.
type Store interface {
	// ReserveExpense adds an expense to a budget, in lamports, unless the expenses of the last 24 hours would
	// exceed the limit. It returns the id of the expense, which is durable then. If the budget is used up, it
	// returns an empty id and the time until the oldest expense ends.
	ReserveExpense(ctx context.Context, budget Budget, lamports uint64) (id string, retryIn time.Duration, err error)
	// SettleExpense replaces an expense's lamports. Zero removes the expense. If it fails, the reserved
	// lamports count for 24 hours.
	SettleExpense(ctx context.Context, id string, lamports uint64) error
}

// memoryStore is a Store that loses the expenses when the process ends.
type memoryStore struct {
	lock     sync.Mutex
	expenses map[string]expense
}

// expense is an amount spent or reserved.
type expense struct {
	wallet   solana.PublicKey
	budget   string
	at       time.Time
	lamports uint64
}

// ReserveExpense implements [Store].
func (m *memoryStore) ReserveExpense(_ context.Context, budget Budget, lamports uint64) (string, time.Duration, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	now := time.Now()
	var used uint64
	oldest := now
	for id, e := range m.expenses {
		switch {
		case now.Sub(e.at) >= day:
			delete(m.expenses, id)
		case e.wallet == budget.Wallet && e.budget == budget.Name:
			used = sum(used, e.lamports)
			if e.at.Before(oldest) {
				oldest = e.at
			}
		}
	}
	if sum(used, lamports) > budget.Limit {
		return "", oldest.Add(day).Sub(now), nil
	}
	if m.expenses == nil {
		m.expenses = map[string]expense{}
	}
	id := rand.Text()
	m.expenses[id] = expense{budget.Wallet, budget.Name, now, lamports}
	return id, 0, nil
}

// SettleExpense implements [Store].
func (m *memoryStore) SettleExpense(_ context.Context, id string, lamports uint64) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	settled, known := m.expenses[id]
	if !known {
		return fmt.Errorf("keeper: unknown expense %s", id)
	}
	if lamports == 0 {
		delete(m.expenses, id)
		return nil
	}
	settled.at, settled.lamports = time.Now(), lamports
	m.expenses[id] = settled
	return nil
}

// sum returns the largest number if the sum overflows.
func sum(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}
