package keeper

import (
	"sync"
	"time"
)

// day is over what time a budget is.
const day = 24 * time.Hour

// budget limits what is spent within a day.
type budget struct {
	limit uint64

	lock sync.Mutex
	// spent is what has been spent when, the oldest first; reserved is what may be, by actions that are under way.
	spent    []expense
	reserved uint64
}

type expense struct {
	at     time.Time
	amount uint64
}

// reserve takes an amount off what is left. If that is too little, it says when there will be more.
func (b *budget) reserve(amount uint64, now time.Time) (ok bool, again time.Time) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if amount <= b.limit && b.used(now) <= b.limit-amount {
		b.reserved += amount
		return true, time.Time{}
	}
	if len(b.spent) == 0 {
		return false, now.Add(day)
	}
	return false, b.spent[0].at.Add(day)
}

// settle replaces what has been reserved by what has been spent.
func (b *budget) settle(reserved, spent uint64, now time.Time) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.reserved -= reserved
	if spent > 0 {
		b.spent = append(b.spent, expense{now, spent})
	}
}

// used is what has been spent within the last day, or may be; the lock is held.
func (b *budget) used(now time.Time) uint64 {
	for len(b.spent) > 0 && now.Sub(b.spent[0].at) >= day {
		b.spent = b.spent[1:]
	}
	used := b.reserved
	for _, one := range b.spent {
		used += one.amount
	}
	return used
}
