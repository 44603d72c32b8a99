package keeper

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	// clockEvery is how often the chain's clock is read at most, and idleEvery how often at least while there are negotiations: it does
	// not go as the machine's does.
	clockEvery = 2 * time.Second
	idleEvery  = 15 * time.Second
	// deafEvery is how often the negotiations are listed at least while events cannot be heard, and listPause how long after a list the
	// next one is made at the earliest because something has been missed.
	deafEvery = 30 * time.Second
	listPause = 5 * time.Second
	// Pauses after something has failed, which double, and after a payout could not be delivered.
	firstPause        = 15 * time.Second
	lastPause         = time.Hour
	firstPendingPause = 10 * time.Minute
	lastPendingPause  = day
	// roundsAtOnce is how many rounds Once makes at most: an expired negotiation is closed in the second.
	roundsAtOnce = 4
)

// Keeper does for all negotiations what anyone may. See the package documentation.
type Keeper struct {
	client *haggle.Client
	signer haggle.Signer
	self   solana.PublicKey
	config Config
	budget budget
	// pace lets actions begin.
	pace pace

	running atomic.Bool
	ears    ears

	// telling is held while somebody is told something, and for all that follows.
	telling sync.Mutex
	// known are the negotiations that there are, as far as is known.
	known map[solana.PublicKey]*record
	// hearing says that events are heard, and listAsked that some may have been missed.
	hearing, listAsked bool
}

// record is what is known of a negotiation.
type record struct {
	address solana.PublicKey
	task    task
	// created and slot tell which one it is, and how old the news of it are.
	created int64
	slot    uint64
	// since is when its task became known, and heard when it was last read, by the machine's clock.
	since, heard time.Time
	// failures are those in a row; it is not tried again before notBefore.
	failures  int
	notBefore time.Time
	// told says that what would be done has been told, in a dry run.
	told bool
	busy bool
}

// New makes a keeper that pays with the signer's account.
func New(client *haggle.Client, signer haggle.Signer, config Config) (*Keeper, error) {
	if client == nil || signer == nil {
		return nil, errors.New("keeper: client or signer is not given")
	}
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Keeper{
		client: client, signer: signer, self: signer.PublicKey(), config: config,
		budget: budget{limit: config.DailyBudget, file: config.budgetFile()},
		pace:   pace{every: time.Minute / time.Duration(config.ActionsPerMinute)},
		ears:   newEars(),
		known:  make(map[solana.PublicKey]*record),
	}, nil
}

// ErrRunning: Run or Once has been called and has not returned.
var ErrRunning = errors.New("keeper: the keeper is running already")

// Run keeps until the context ends, finishes what is under way, and answers with the context's error. Nothing else ends it, once it
// has its budget file: a node that does not answer is asked again. Without that file, if Config.BudgetFile names one, it fails at
// once, with [ErrBudgetInUse], [ErrBudgetDamaged] or the system's error.
func (k *Keeper) Run(ctx context.Context) (err error) {
	end, err := k.begin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	var listening sync.WaitGroup
	defer listening.Wait()
	listening.Go(func() { k.listen(ctx) })
	for range lookers {
		listening.Go(func() { k.follow(ctx) })
	}
	workers := newCrew(k.config.Concurrency)
	defer workers.wait()
	var listed time.Time
	for ctx.Err() == nil {
		if until := k.untilList(listed); until <= 0 {
			if err := k.list(ctx); err != nil {
				k.config.Logger.Warn("the negotiations could not be listed", "error", err)
				if !sleep(ctx, min(firstPause, k.config.ScanEvery)) {
					break
				}
				continue
			}
			listed = time.Now()
		}
		_, next, err := k.round(ctx, workers, k.patience)
		if err != nil {
			k.config.Logger.Warn("the chain's clock could not be read", "error", err)
			next = clockEvery
		}
		k.rest(ctx, min(next, k.untilList(listed)))
	}
	return context.Cause(ctx)
}

// begin has nobody else run the keeper, nor use its budget file, until end is called.
func (k *Keeper) begin() (end func() error, err error) {
	if k.running.Swap(true) {
		return nil, ErrRunning
	}
	if err := k.budget.open(time.Now()); err != nil {
		k.running.Store(false)
		return nil, err
	}
	return func() error {
		defer k.running.Store(false)
		return k.budget.close()
	}, nil
}

// untilList is how long it is until the negotiations are to be listed, for a last list of some time ago.
func (k *Keeper) untilList(listed time.Time) time.Duration {
	if listed.IsZero() {
		return 0
	}
	k.telling.Lock()
	defer k.telling.Unlock()
	every := k.config.ScanEvery
	if !k.hearing {
		every = min(every, deafEvery)
	}
	if k.listAsked {
		every = min(every, listPause)
	}
	return time.Until(listed.Add(every))
}

// rest waits until there is something new, but so long that the clock is not read too often.
func (k *Keeper) rest(ctx context.Context, length time.Duration) {
	least := min(clockEvery, k.config.ScanEvery)
	if !sleep(ctx, min(least, max(length, 0))) || length <= least {
		return
	}
	timer := time.NewTimer(length - least)
	defer timer.Stop()
	select {
	case <-k.ears.news:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Once does everything that is due, what falls due by that included, without giving others time to do it, and returns. It fails
// without its budget file as Run does.
func (k *Keeper) Once(ctx context.Context) (err error) {
	end, err := k.begin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	for range roundsAtOnce {
		if err := k.list(ctx); err != nil {
			return err
		}
		workers := newCrew(k.config.Concurrency)
		begun, _, err := k.round(ctx, workers, func(solana.PublicKey) time.Duration { return 0 })
		workers.wait()
		if err != nil || begun == 0 || k.config.DryRun {
			return err
		}
	}
	return context.Cause(ctx)
}

// list finds all negotiations.
func (k *Keeper) list(ctx context.Context) error {
	k.telling.Lock()
	k.listAsked = false
	began := time.Now()
	k.telling.Unlock()
	seen := make(map[solana.PublicKey]struct{})
	for n, err := range k.client.FindNegotiations(ctx, haggle.Filter{}) {
		var undecodable *protocol.DecodeError
		if errors.As(err, &undecodable) {
			k.config.Logger.Debug("a negotiation cannot be read", "error", err)
			continue
		}
		if err != nil {
			return err
		}
		seen[n.Address] = struct{}{}
		k.note(n)
	}
	k.telling.Lock()
	defer k.telling.Unlock()
	for address, r := range k.known {
		// What has been heard of since may be newer than the list.
		if _, there := seen[address]; !there && !r.busy && r.heard.Before(began) {
			delete(k.known, address)
		}
	}
	return nil
}

// note takes over what has been read of a negotiation.
func (k *Keeper) note(n *haggle.NegotiationAccount) {
	k.telling.Lock()
	defer k.telling.Unlock()
	r := k.known[n.Address]
	next := taskFor(&n.Negotiation)
	switch {
	case r == nil || r.created != n.CreatedAt:
		if r != nil && n.Slot < r.slot {
			return // an older negotiation at the same address
		}
		k.known[n.Address] = &record{address: n.Address, task: next, created: n.CreatedAt, slot: n.Slot, since: time.Now(), heard: time.Now()}
	case r.busy || n.Slot < r.slot:
	case r.task != next:
		r.task, r.since, r.failures, r.notBefore, r.told = next, time.Now(), 0, time.Time{}, false
		fallthrough
	default:
		r.slot, r.heard = n.Slot, time.Now()
	}
}

// round begins everything that is due, the oldest first, and says how much that is, and after what time something else will be.
func (k *Keeper) round(ctx context.Context, workers *crew, patience func(solana.PublicKey) time.Duration) (begun int, next time.Duration, err error) {
	if k.isIdle() {
		return 0, k.config.ScanEvery, nil
	}
	now, err := k.client.Now(ctx)
	if err != nil {
		return 0, 0, err
	}
	due, next := k.due(now, patience)
	for _, r := range due {
		if !k.pace.wait(ctx) || !workers.start(ctx, func() { k.do(ctx, r) }) {
			k.release(r)
			continue
		}
		begun++
	}
	return begun, next, nil
}

func (k *Keeper) isIdle() bool {
	k.telling.Lock()
	defer k.telling.Unlock()
	return len(k.known) == 0
}

// due are the negotiations whose time has come, marked as busy, and after what time the next one's will have.
func (k *Keeper) due(now int64, patience func(solana.PublicKey) time.Duration) (due []*record, next time.Duration) {
	k.telling.Lock()
	defer k.telling.Unlock()
	next = idleEvery
	for _, r := range k.known {
		if r.task.kind == "" || r.busy || r.told {
			continue
		}
		wait := patience(r.address)
		left := wait - time.Since(r.since)
		if r.task.due > 0 {
			left = time.Duration(r.task.due+seconds(wait)-now) * time.Second
		} else {
			left = max(left, time.Duration(r.task.earliest-now)*time.Second)
		}
		if left = max(left, time.Until(r.notBefore)); left > 0 {
			next = min(next, left)
			continue
		}
		r.busy = true
		due = append(due, r)
	}
	slices.SortFunc(due, func(a, b *record) int { return cmp.Compare(a.task.due, b.task.due) })
	return due, next
}

func (k *Keeper) release(r *record) {
	k.telling.Lock()
	defer k.telling.Unlock()
	r.busy = false
}

// pace lets things begin one after the other, at least so far apart. One goroutine uses it.
type pace struct {
	every time.Duration
	next  time.Time
}

// wait is false if the context has ended.
func (p *pace) wait(ctx context.Context) bool {
	if pause := time.Until(p.next); pause > 0 && !sleep(ctx, pause) {
		return false
	}
	p.next = time.Now().Add(p.every)
	return ctx.Err() == nil
}

// crew does several things at once, and not more.
type crew struct {
	places  chan struct{}
	working sync.WaitGroup
}

func newCrew(size int) *crew { return &crew{places: make(chan struct{}, size)} }

// start is false if the context has ended.
func (c *crew) start(ctx context.Context, do func()) bool {
	select {
	case c.places <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	c.working.Go(func() {
		defer func() { <-c.places }()
		do()
	})
	return true
}

func (c *crew) wait() { c.working.Wait() }

// sleep waits; false if the context has ended.
func sleep(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
