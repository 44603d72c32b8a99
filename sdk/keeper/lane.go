package keeper

import (
	"context"
	"math/bits"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"golang.org/x/time/rate"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

// lane carries out due tasks with a separate rate, budget and limit for actions in flight. Closes use a
// separate lane, so that they use nothing that other tasks need.
type lane struct {
	// name names the lane's actions in errors.
	name string
	// listed holds tasks of the mints of Config.Mints, other the rest. They alternate. Keeper.lock protects
	// both.
	listed, other queue
	// tookListed reports whether the last task came from listed.
	tookListed bool

	pace   *rate.Limiter
	budget Budget
	// slots contains an element for each action in flight.
	slots chan struct{}
}

// newLanes returns the lane of expiries, releases and settlements, and the lane of closes.
func newLanes(config *Config, wallet solana.PublicKey) (urgent, closes *lane) {
	part := float64(config.CloseShareBps) / wholeBps
	most := rate.Every(time.Minute) * rate.Limit(config.ActionsPerMinute)
	closing := config.closeBudget()
	closes = &lane{
		name: "closes",
		pace: rate.NewLimiter(most*rate.Limit(part), 1), slots: make(chan struct{}, 1),
		budget: Budget{Wallet: wallet, Name: "closes", Limit: closing},
	}
	urgent = &lane{
		name: "expiries, releases and settlements",
		pace: rate.NewLimiter(most*rate.Limit(1-part), 1), slots: make(chan struct{}, config.Concurrency),
		budget: Budget{Wallet: wallet, Name: "urgent", Limit: config.DailyBudget},
	}
	if config.DailyBudget != Unlimited {
		urgent.budget.Limit -= closing
	}
	return urgent, closes
}

const wholeBps = 10_000

// closeBudget returns the part of DailyBudget for closes.
func (c *Config) closeBudget() uint64 {
	if c.DailyBudget == Unlimited {
		return Unlimited
	}
	high, low := bits.Mul64(c.DailyBudget, uint64(c.CloseShareBps))
	part, _ := bits.Div64(high, low, wholeBps)
	return part
}

func (l *lane) len() int { return len(l.listed.ready) + len(l.other.ready) }

func (l *lane) add(r *record) {
	if r.listed {
		l.listed.add(r)
		return
	}
	l.other.add(r)
}

// take removes the next task. The lane must not be empty.
func (l *lane) take() *record {
	l.tookListed = len(l.listed.ready) > 0 && (!l.tookListed || len(l.other.ready) == 0)
	if l.tookListed {
		return l.listed.take()
	}
	return l.other.take()
}

// laneOf returns a task's lane.
func (k *Keeper) laneOf(next task) *lane {
	if next.kind == Close {
		return k.closes
	}
	return k.urgent
}

// serveLanes carries out queued tasks until the context ends. The returned function waits for the actions in
// flight and releases the tasks not begun. It must be called once the context has ended.
func (k *Keeper) serveLanes(ctx context.Context) (finish func()) {
	stop := context.AfterFunc(ctx, func() {
		k.lock.Lock()
		defer k.lock.Unlock()
		k.queued.Broadcast()
	})
	var lanes sync.WaitGroup
	for _, l := range []*lane{k.urgent, k.closes} {
		lanes.Go(func() { k.serve(ctx, l) })
	}
	return func() {
		defer stop()
		lanes.Wait()
		k.lock.Lock()
		defer k.lock.Unlock()
		for _, l := range []*lane{k.urgent, k.closes} {
			for l.len() > 0 {
				l.take().busy = false
			}
		}
		k.open = 0
	}
}

// serve starts a lane's tasks, and waits for those in flight when the context ends.
func (k *Keeper) serve(ctx context.Context, l *lane) {
	var workers sync.WaitGroup
	defer workers.Wait()
	for {
		select {
		case l.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		r := k.next(ctx, l)
		if r == nil {
			<-l.slots
			return
		}
		workers.Go(func() {
			k.do(ctx, r)
			<-l.slots
			k.lock.Lock()
			defer k.lock.Unlock()
			k.open--
			k.queued.Broadcast()
		})
	}
}

// next waits for the lane's pace and the next task. It returns nil once the context has ended. A task that
// becomes due during the wait can be returned.
func (k *Keeper) next(ctx context.Context, l *lane) *record {
	for k.awaitTask(ctx, l) && wait.For(ctx, l.pace.Reserve().Delay()) == nil {
		if r := k.take(l); r != nil {
			return r
		}
	}
	return nil
}

// awaitTask blocks until the lane can start a task. It returns false once the context has ended.
func (k *Keeper) awaitTask(ctx context.Context, l *lane) bool {
	k.lock.Lock()
	defer k.lock.Unlock()
	for ctx.Err() == nil && !k.canStart(l) {
		k.queued.Wait()
	}
	return ctx.Err() == nil
}

// take returns the next task, or nil if the lane cannot start a task any longer.
func (k *Keeper) take(l *lane) *record {
	k.lock.Lock()
	defer k.lock.Unlock()
	if !k.canStart(l) {
		return nil
	}
	r := l.take()
	k.queued.Broadcast() // closes may wait for this task
	return r
}

// canStart reports whether the lane contains a task that can start: closes wait until no other task is due.
// The lock must be held.
func (k *Keeper) canStart(l *lane) bool {
	return l.len() > 0 && (l == k.urgent || k.urgent.len() == 0)
}

// await blocks until no task is queued or in flight, or the context ends.
func (k *Keeper) await(ctx context.Context) {
	k.lock.Lock()
	defer k.lock.Unlock()
	for ctx.Err() == nil && k.open > 0 {
		k.queued.Wait()
	}
}
