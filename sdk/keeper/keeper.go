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

	"github.com/haggle-protocol/haggle/sdk"
)

const (
	// clockEvery is how often the chain's clock is read while something is about to fall due.
	clockEvery = 2 * time.Second
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
	// known are the negotiations of the last scan. Only the goroutine of Run or Once changes the map; a record belongs to whoever acts
	// on it.
	known map[solana.PublicKey]*record
	// telling is held while somebody is told something.
	telling sync.Mutex
}

// record is what is known of a negotiation.
type record struct {
	address solana.PublicKey
	task    task
	// created and slot tell which one it is, and how old the news of it are.
	created int64
	slot    uint64
	// since is when its task became known, by the machine's clock.
	since time.Time
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
		budget: budget{limit: config.DailyBudget},
		pace:   pace{every: time.Minute / time.Duration(config.ActionsPerMinute)},
		known:  make(map[solana.PublicKey]*record),
	}, nil
}

// ErrRunning: Run or Once has been called and has not returned.
var ErrRunning = errors.New("keeper: the keeper is running already")

// Run keeps until the context ends, finishes what is under way, and answers with the context's error. Nothing else ends it: a node
// that does not answer is asked again.
func (k *Keeper) Run(ctx context.Context) error {
	if k.running.Swap(true) {
		return ErrRunning
	}
	defer k.running.Store(false)
	workers := newCrew(k.config.Concurrency)
	defer workers.wait()
	var scanned time.Time
	for ctx.Err() == nil {
		if time.Since(scanned) >= k.config.ScanEvery {
			if err := k.scan(ctx); err != nil {
				k.config.Logger.Warn("the negotiations could not be listed", "error", err)
				if !sleep(ctx, min(firstPause, k.config.ScanEvery)) {
					break
				}
				continue
			}
			scanned = time.Now()
		}
		if _, err := k.round(ctx, workers, k.patience); err != nil {
			k.config.Logger.Warn("the chain's clock could not be read", "error", err)
		}
		sleep(ctx, min(clockEvery, k.config.ScanEvery))
	}
	return context.Cause(ctx)
}

// Once does everything that is due, what falls due by that included, without giving others time to do it, and returns.
func (k *Keeper) Once(ctx context.Context) error {
	if k.running.Swap(true) {
		return ErrRunning
	}
	defer k.running.Store(false)
	for range roundsAtOnce {
		if err := k.scan(ctx); err != nil {
			return err
		}
		workers := newCrew(k.config.Concurrency)
		begun, err := k.round(ctx, workers, func(solana.PublicKey) time.Duration { return 0 })
		workers.wait()
		if err != nil || begun == 0 || k.config.DryRun {
			return err
		}
	}
	return context.Cause(ctx)
}

// scan lists all negotiations.
func (k *Keeper) scan(ctx context.Context) error {
	seen := make(map[solana.PublicKey]struct{}, len(k.known))
	for n, err := range k.client.FindNegotiations(ctx, haggle.Filter{}) {
		var undecodable *haggle.DecodeError
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
		if _, there := seen[address]; !there && !r.busy {
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
		k.known[n.Address] = &record{address: n.Address, task: next, created: n.CreatedAt, slot: n.Slot, since: time.Now()}
	case r.busy || n.Slot < r.slot:
	case r.task != next:
		r.task, r.since, r.failures, r.notBefore, r.told = next, time.Now(), 0, time.Time{}, false
		fallthrough
	default:
		r.slot = n.Slot
	}
}

// round begins everything that is due, the oldest first, and says how much that is.
func (k *Keeper) round(ctx context.Context, workers *crew, patience func(solana.PublicKey) time.Duration) (begun int, err error) {
	if len(k.known) == 0 {
		return 0, nil
	}
	now, err := k.client.Now(ctx)
	if err != nil {
		return 0, err
	}
	for _, r := range k.due(now, patience) {
		if !k.pace.wait(ctx) || !workers.start(ctx, func() { k.do(ctx, r) }) {
			k.release(r)
			continue
		}
		begun++
	}
	return begun, nil
}

// due are the negotiations whose time has come, marked as busy.
func (k *Keeper) due(now int64, patience func(solana.PublicKey) time.Duration) []*record {
	k.telling.Lock()
	defer k.telling.Unlock()
	var due []*record
	for _, r := range k.known {
		wait := patience(r.address)
		switch {
		case r.task.kind == "" || r.busy || r.told || time.Now().Before(r.notBefore):
		case r.task.due > 0 && now < r.task.due+seconds(wait):
		case r.task.due == 0 && time.Since(r.since) < wait:
		default:
			r.busy = true
			due = append(due, r)
		}
	}
	slices.SortFunc(due, func(a, b *record) int { return cmp.Compare(a.task.due, b.task.due) })
	return due
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
