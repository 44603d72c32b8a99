package keeper

import (
	"math"
	"sync"
	"time"
)

// day is over what time a budget is.
const day = 24 * time.Hour

// budget limits what is spent within a day.
type budget struct {
	limit uint64
	// file is where what has been spent survives the process; nil if it does not.
	file *budgetFile

	lock sync.Mutex
	// spent is what has been spent when, the oldest first; reserved is what may be, by actions that are under way.
	spent    []expense
	reserved uint64
}

// expense is what has been spent within a minute, and its last moment.
type expense struct {
	at     time.Time
	amount uint64
}

// reserve takes an amount off what is left. If that is too little, it says when there will be more. When it returns, a crash does not
// undo it.
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
	return false, b.spent[0].at.Add(day), nil
}

// settle replaces what has been reserved by what has been spent. If that cannot be written, the file says that more has been spent.
func (b *budget) settle(reserved, spent uint64, now time.Time) error {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.reserved -= reserved
	b.spent = spend(b.spent, expense{now, spent})
	return b.save(now)
}

// spend adds an expense, to that of the same minute if there is one: however much is done in a day, that is not many.
func spend(spent []expense, added expense) []expense {
	if added.amount == 0 {
		return spent
	}
	if last := len(spent) - 1; last >= 0 && spent[last].at.Truncate(time.Minute).Equal(added.at.Truncate(time.Minute)) {
		spent[last].at, spent[last].amount = added.at, sum(spent[last].amount, added.amount)
		return spent
	}
	return append(spent, added)
}

// used is what has been spent within the last day, or may be; the lock is held.
func (b *budget) used(now time.Time) uint64 {
	for len(b.spent) > 0 && now.Sub(b.spent[0].at) >= day {
		b.spent = b.spent[1:]
	}
	used := b.reserved
	for _, one := range b.spent {
		used = sum(used, one.amount)
	}
	return used
}

// sum is the most that there can be if it would be more.
func sum(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// save writes what has been spent, and what may be, as if it were; the lock is held.
func (b *budget) save(now time.Time) error {
	if b.file == nil {
		return nil
	}
	return b.file.write(spend(append([]expense(nil), b.spent...), expense{now, b.reserved}))
}

// open has the budget continue what its file says, if it has one. It is the file's only user until close.
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
		// The machine's clock may have been ahead.
		if one.at.After(now) {
			one.at = now
		}
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
