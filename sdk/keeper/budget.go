package keeper

import (
	"math"
	"sync"
	"time"
)

const day = 24 * time.Hour

type budget struct {
	limit uint64
	// file keeps the expenses when the process ends; nil keeps them in memory only.
	file *budgetFile

	lock sync.Mutex
	// spent are the expenses, the oldest first; reserved is the highest cost of the actions in flight.
	spent    []expense
	reserved uint64
}

// expense is the amount spent within a minute, and the machine's time of its last part in Unix seconds.
type expense struct {
	At       int64  `json:"at"`
	Lamports uint64 `json:"lamports"`
}

// reserve takes the highest cost of an action off the rest, before the action is sent. It returns false if
// the rest is too small, with the time when it grows. When reserve returns, the amount is in the file.
func (b *budget) reserve(amount uint64, now time.Time) (ok bool, again time.Time, err error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if amount <= b.limit && b.used(now) <= b.limit-amount {
		b.reserved += amount
		if err := b.save(now); err != nil {
			b.reserved -= amount
			return false, time.Time{}, err
		}
		return true, time.Time{}, nil
	}
	if len(b.spent) == 0 {
		return false, now.Add(day), nil
	}
	return false, time.Unix(b.spent[0].At, 0).Add(day), nil
}

// settle replaces a reserved amount by the amount spent, and gives back the difference. If it fails, the file
// still has the reserved amount.
func (b *budget) settle(reserved, spent uint64, now time.Time) error {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.reserved -= reserved
	b.spent = spend(b.spent, expense{now.Unix(), spent})
	return b.save(now)
}

// spend adds an expense to the one of the same minute, if there is one. So their number is limited.
func spend(spent []expense, added expense) []expense {
	if added.Lamports == 0 {
		return spent
	}
	if last := len(spent) - 1; last >= 0 && spent[last].At/60 == added.At/60 {
		spent[last].At, spent[last].Lamports = added.At, sum(spent[last].Lamports, added.Lamports)
		return spent
	}
	return append(spent, added)
}

// used returns the expenses of the last day and the reserved amounts. The lock must be held.
func (b *budget) used(now time.Time) uint64 {
	for len(b.spent) > 0 && now.Sub(time.Unix(b.spent[0].At, 0)) >= day {
		b.spent = b.spent[1:]
	}
	used := b.reserved
	for _, one := range b.spent {
		used = sum(used, one.Lamports)
	}
	return used
}

// sum returns the largest number if the sum overflows.
func sum(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// save writes the expenses to the file, reserved amounts included. The lock must be held.
func (b *budget) save(now time.Time) error {
	if b.file == nil {
		return nil
	}
	return b.file.write(spend(append([]expense(nil), b.spent...), expense{now.Unix(), b.reserved}))
}

// open reads the file, if there is one, and locks it until close.
func (b *budget) open(now time.Time) error {
	if b.file == nil {
		return nil
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	spent, err := b.file.open()
	if err != nil {
		return err
	}
	b.spent = nil
	for _, one := range spent {
		one.At = min(one.At, now.Unix()) // the machine's clock may have been ahead before
		b.spent = spend(b.spent, one)
	}
	return nil
}

func (b *budget) close() error {
	if b.file == nil {
		return nil
	}
	return b.file.close()
}
