package keeper

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	// clockEvery is the shortest time between reads of the chain's clock, because chain seconds differ from
	// machine seconds. idleEvery is the longest time between reads while there are negotiations.
	clockEvery = 2 * time.Second
	idleEvery  = 15 * time.Second
	// scanEveryUnconnected is the longest time between scans while no hints arrive, scanPause the shortest
	// time between scans.
	scanEveryUnconnected = 30 * time.Second
	scanPause            = 5 * time.Second
	// Pauses once an action has failed, which double, and once a payout could not be delivered.
	firstPause        = 15 * time.Second
	lastPause         = time.Hour
	firstPendingPause = 10 * time.Minute
	lastPendingPause  = day
	// mostRounds limits the rounds of Once. An expired negotiation is closed in the second round.
	mostRounds = 4
)

// Keeper sends the instructions that anyone may send. See the package documentation.
type Keeper struct {
	client *haggle.Client
	signer haggle.Signer
	self   solana.PublicKey
	config Config
	// closes carries out closes, urgent all other tasks.
	urgent, closes *lane

	running atomic.Bool
	// hints receives transactions of the program.
	hints chan solana.Signature
	// changed contains an element when Run must compute the next step again.
	changed chan struct{}

	// lock protects the following fields, and is held while Config.Acted runs.
	lock    sync.Mutex
	records map[solana.PublicKey]*record
	// connected reports whether hints arrive, and scanRequested whether some may be lost.
	connected, scanRequested bool
	// scans counts the scans.
	scans uint64
	// open is the number of tasks that are queued or in flight. queued is signaled when open or a queue
	// changes.
	open   int
	queued sync.Cond
}

// record is a negotiation's state.
type record struct {
	address solana.PublicKey
	task    task
	// created identifies the negotiation at the address, and slot is the slot of the latest snapshot.
	created int64
	slot    uint64
	// since is the time when the task became known, and updated the time of the latest snapshot, by the
	// machine's clock.
	since, updated time.Time
	// scan is the latest scan that included the negotiation.
	scan uint64
	// backoff gives the pauses between failed attempts. It is nil until an attempt fails. No attempt begins
	// before notBefore.
	backoff   *backoff.ExponentialBackOff
	notBefore time.Time
	// reported is set in a dry run once the action is reported.
	reported bool
	// busy reports whether the task is queued or in flight.
	busy bool

	// buyer, stake (the escrow, in base units) and listed (whether Config.Mints includes the mint) order due
	// tasks. turn and rank give the place in a queue.
	buyer  solana.PublicKey
	stake  uint64
	listed bool
	turn   uint64
	rank   int64
}

// New returns a keeper that pays with the signer's account.
func New(client *haggle.Client, signer haggle.Signer, config Config) (*Keeper, error) {
	if client == nil || signer == nil {
		return nil, errors.New("keeper: client or signer not set")
	}
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	k := &Keeper{
		client: client, signer: signer, self: signer.PublicKey(), config: config,
		hints:   make(chan solana.Signature, hintsHeld),
		changed: make(chan struct{}, 1),
		records: make(map[solana.PublicKey]*record),
	}
	k.urgent, k.closes = newLanes(&k.config, k.self)
	k.queued.L = &k.lock
	return k, nil
}

// retryPause returns the pauses between attempts. They are long if only others can remove the cause.
func retryPause(outcome Outcome) *backoff.ExponentialBackOff {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = firstPause, lastPause
	if outcome == Pending || outcome == TooExpensive {
		pause.InitialInterval, pause.MaxInterval = firstPendingPause, lastPendingPause
	}
	pause.Multiplier, pause.RandomizationFactor = 2, 0
	return pause
}

// ErrRunning: another call of Run or Once is still running.
var ErrRunning = errors.New("keeper: already running")

// Run acts until the context ends, completes the actions in flight, and returns the context's error. It
// retries every failed request.
func (k *Keeper) Run(ctx context.Context) error {
	if k.running.Swap(true) {
		return ErrRunning
	}
	defer k.running.Store(false)
	var listening sync.WaitGroup
	defer listening.Wait()
	listening.Go(func() { k.listen(ctx) })
	for range readers {
		listening.Go(func() { k.readHinted(ctx) })
	}
	finish := k.serveLanes(ctx)
	defer finish()
	var scanned time.Time
	for ctx.Err() == nil {
		if k.untilScan(scanned) <= 0 {
			if err := k.scan(ctx); err != nil {
				k.config.Logger.Warn("scanning negotiations failed; the next attempt follows", "error", err)
				k.requestScan()
				_ = wait.For(ctx, min(firstPause, k.config.ScanEvery))
				continue
			}
			scanned = time.Now()
		}
		_, next, err := k.round(ctx, k.patience)
		if err != nil {
			k.config.Logger.Warn("reading the chain's clock failed", "error", err)
			next = clockEvery
		}
		k.rest(ctx, min(next, k.untilScan(scanned)))
	}
	return context.Cause(ctx)
}

// untilScan returns the time until the next scan; scanned is the time of the latest scan.
func (k *Keeper) untilScan(scanned time.Time) time.Duration {
	if scanned.IsZero() {
		return 0
	}
	k.lock.Lock()
	defer k.lock.Unlock()
	every := k.config.ScanEvery
	if !k.connected {
		every = min(every, scanEveryUnconnected)
	}
	if k.scanRequested {
		every = min(every, scanPause)
	}
	return time.Until(scanned.Add(every))
}

// rest waits for a change or until length has passed, but at least clockEvery, so that the clock is not read
// too often.
func (k *Keeper) rest(ctx context.Context, length time.Duration) {
	least := min(clockEvery, k.config.ScanEvery)
	if wait.For(ctx, min(least, max(length, 0))) != nil || length <= least {
		return
	}
	timer := time.NewTimer(length - least)
	defer timer.Stop()
	select {
	case <-k.changed:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Once carries out all tasks that are due, and those that follow from them, without Config.Grace, and
// returns.
func (k *Keeper) Once(ctx context.Context) error {
	if k.running.Swap(true) {
		return ErrRunning
	}
	defer k.running.Store(false)
	serving, stop := context.WithCancel(ctx)
	finish := k.serveLanes(serving)
	defer finish()
	defer stop()
	for range mostRounds {
		if err := k.scan(ctx); err != nil {
			return err
		}
		begun, _, err := k.round(ctx, func(solana.PublicKey) time.Duration { return 0 })
		k.await(ctx)
		if err != nil || begun == 0 || k.config.DryRun {
			return err
		}
	}
	return context.Cause(ctx)
}

// scan updates the records of all negotiations. It keeps none of the accounts.
func (k *Keeper) scan(ctx context.Context) error {
	k.lock.Lock()
	k.scanRequested = false
	k.scans++
	scan, began := k.scans, time.Now()
	k.lock.Unlock()
	for n, err := range k.client.FindNegotiations(ctx, haggle.Filter{}) {
		var undecodable *protocol.DecodeError
		if errors.As(err, &undecodable) {
			k.config.Logger.Debug("decoding a negotiation failed", "error", err)
			continue
		}
		if err != nil {
			return err
		}
		k.update(n, scan)
	}
	k.lock.Lock()
	defer k.lock.Unlock()
	for address, r := range k.records {
		// A record that has been read since may be newer than the scan.
		if r.scan != scan && !r.busy && r.updated.Before(began) {
			delete(k.records, address)
		}
	}
	return nil
}

// update stores a snapshot in the records. scan is zero if the snapshot does not come from a scan.
func (k *Keeper) update(n *haggle.Snapshot, scan uint64) {
	k.lock.Lock()
	defer k.lock.Unlock()
	r := k.records[n.Address]
	if r != nil {
		r.scan = max(r.scan, scan)
	}
	next := taskFor(&n.Negotiation)
	switch {
	case r == nil || r.created != n.CreatedAt:
		if r != nil && n.Slot < r.slot {
			return // an older negotiation at this address
		}
		k.records[n.Address] = &record{
			address: n.Address, task: next, created: n.CreatedAt, slot: n.Slot, since: time.Now(), updated: time.Now(), scan: scan,
			buyer: n.Buyer, stake: n.EscrowAmount, listed: k.config.lists(n.TokenMint),
		}
	case r.busy || n.Slot < r.slot:
	case r.task != next:
		r.task, r.since, r.backoff, r.notBefore, r.reported = next, time.Now(), nil, time.Time{}, false
		fallthrough
	default:
		r.slot, r.updated = n.Slot, time.Now()
	}
}

// round queues all tasks that are due. It returns their number, and the time until the next task is due.
func (k *Keeper) round(ctx context.Context, patience func(solana.PublicKey) time.Duration) (begun int, next time.Duration, err error) {
	if k.isIdle() {
		return 0, k.config.ScanEvery, nil
	}
	now, err := k.client.Now(ctx)
	if err != nil {
		return 0, 0, err
	}
	begun, next = k.queueDue(now, patience)
	return begun, next, nil
}

func (k *Keeper) isIdle() bool {
	k.lock.Lock()
	defer k.lock.Unlock()
	return len(k.records) == 0
}

// queueDue queues the due tasks, the most overdue first, and marks their records as busy. It returns their
// number, and the time until the next task is due.
func (k *Keeper) queueDue(now int64, patience func(solana.PublicKey) time.Duration) (count int, next time.Duration) {
	k.lock.Lock()
	defer k.lock.Unlock()
	next = idleEvery
	var due []*record
	for _, r := range k.records {
		if r.task.kind == "" || r.busy || r.reported {
			continue
		}
		grace := patience(r.address)
		left := grace - time.Since(r.since)
		if r.task.due > 0 {
			left = time.Duration(r.task.due+seconds(grace)-now) * time.Second
		} else {
			left = max(left, time.Duration(r.task.earliest-now)*time.Second)
		}
		if left = max(left, time.Until(r.notBefore)); left > 0 {
			next = min(next, left)
			continue
		}
		r.busy, r.rank = true, rankOf(r.task, r.stake, r.listed)
		due = append(due, r)
	}
	slices.SortFunc(due, func(a, b *record) int { return cmp.Compare(a.rank, b.rank) })
	for _, r := range due {
		k.laneOf(r.task).add(r)
	}
	k.open += len(due)
	k.queued.Broadcast()
	return len(due), next
}
