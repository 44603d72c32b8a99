package indexer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"golang.org/x/time/rate"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

const (
	// followPages is the number of pages that fit in memory. A longer list is stored in the database first.
	followPages = 3
	// transactionsAtOnce is the approximate number of transactions added per database transaction.
	transactionsAtOnce = 100
	// rechecksAtOnce is the number of accounts that each poll reads again.
	rechecksAtOnce = 500
	// writeEvery is how often progress is written while nothing else is written.
	writeEvery = 5 * time.Second

	defaultPoll    = time.Second
	firstRetry     = 500 * time.Millisecond
	lastRetry      = 30 * time.Second
	attemptsOfOnce = 6
)

// Config configures an indexer.
type Config struct {
	// RPC connects to the node. It is required.
	RPC *rpc.Client
	// Commitment applies to indexed transactions: confirmed (the default) or finalized.
	Commitment rpc.CommitmentType
	// Poll is the pause between two polls. If zero, one second is used.
	Poll time.Duration
	// RequestsPerSecond limits the requests to the node. Zero means no limit.
	RequestsPerSecond float64
	// Once makes Run return as soon as everything on the chain at the start is indexed.
	Once bool
	// Declarations is a directory with signed declarations in files named *.json or *.jsonl. Run reads new
	// and changed files at the start and every 5 s, logs a refused file and continues. If empty, none is
	// read.
	Declarations string
	// Logger logs failed polls, forks and files of declarations. If nil, nothing is logged.
	Logger *slog.Logger
	// Report is called after each database transaction, unless it is nil.
	Report func(Report)
}

// Report describes an indexer's progress.
type Report struct {
	// Checkpoint is the slot through which everything is indexed and final. Head is the node's newest slot.
	Checkpoint, Head uint64
	// Transactions and Events count the rows added by this run.
	Transactions, Events uint64
	// Left counts transactions listed but not read yet.
	Left uint64
}

// Indexer follows the chain. It is not safe for concurrent use.
type Indexer struct {
	database *Database
	config   Config
	node     *node
	progress *progress
	report   Report
	written  time.Time
	folder   *declarationFolder
}

// New returns an indexer. It sends no requests before Run.
func New(database *Database, config Config) (*Indexer, error) {
	switch config.Commitment {
	case "":
		config.Commitment = rpc.CommitmentConfirmed
	case rpc.CommitmentConfirmed, rpc.CommitmentFinalized:
	default:
		return nil, fmt.Errorf("commitment %q: use %q or %q", config.Commitment, rpc.CommitmentConfirmed, rpc.CommitmentFinalized)
	}
	if config.Poll <= 0 {
		config.Poll = defaultPoll
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Report == nil {
		config.Report = func(Report) {}
	}
	client := config.RPC
	if config.RequestsPerSecond > 0 {
		client = rpc.NewWithCustomRPCClient(limited{client,
			rate.NewLimiter(rate.Limit(config.RequestsPerSecond), max(1, int(config.RequestsPerSecond)))})
	}
	x := &Indexer{database: database, config: config, node: &node{client, config.Commitment}}
	if config.Declarations != "" {
		x.folder = &declarationFolder{path: config.Declarations, database: database, logger: config.Logger}
	}
	return x, nil
}

// Run indexes until the context ends, or, with Config.Once, until everything is indexed. It retries after
// node errors, with Once at most six times in a row. It returns database errors, [ErrAnotherIndexer],
// [ErrOtherChain] and [ErrHistoryGone] at once. A later Run continues where the previous run ended.
func (x *Indexer) Run(ctx context.Context) error {
	retries := &backoff.ExponentialBackOff{
		InitialInterval: firstRetry, MaxInterval: lastRetry, Multiplier: 2, RandomizationFactor: backoff.DefaultRandomizationFactor,
	}
	for failures := 0; ; {
		err := x.poll(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil && x.config.Once {
			return nil
		}
		pause := x.config.Poll
		if err != nil {
			failures++
			var permanent *backoff.PermanentError
			if errors.As(err, &permanent) {
				return fmt.Errorf("%s: %w", x.database.Name, err)
			}
			if x.config.Once && failures == attemptsOfOnce {
				return err
			}
			pause = max(pause, retries.NextBackOff())
			x.config.Logger.WarnContext(ctx, "poll failed", "error", err, "retry_in", pause)
		} else {
			failures = 0
			retries.Reset()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// permanently marks an error that a retry does not fix.
func permanently(err error) error {
	if err == nil {
		return nil
	}
	return backoff.Permanent(err)
}

// poll indexes everything currently on the chain.
func (x *Indexer) poll(ctx context.Context) error {
	if x.progress == nil {
		if err := x.begin(ctx); err != nil {
			return err
		}
	}
	if err := x.folder.read(ctx); err != nil {
		return permanently(err)
	}
	for {
		if x.progress.backlog != nil {
			if err := x.backfillAll(ctx); err != nil {
				return err
			}
		}
		err := x.follow(ctx)
		if !errors.Is(err, errLongList) {
			return err
		}
		if err := x.startBackfill(ctx); err != nil {
			return err
		}
	}
}

func (x *Indexer) begin(ctx context.Context) error {
	genesis, err := x.node.genesis(ctx)
	if err != nil {
		return err
	}
	p, err := begin(ctx, x.database, genesis, string(x.config.Commitment))
	if err != nil {
		return permanently(err)
	}
	if p.commitment != string(x.config.Commitment) {
		// Transactions beyond the checkpoint may not be at this commitment yet.
		p.commitment = string(x.config.Commitment)
		from := p.checkpoint + 1
		if err := x.apply(ctx, p, &batch{from: &from}); err != nil {
			return err
		}
	}
	x.progress = p
	return nil
}

func (x *Indexer) apply(ctx context.Context, p *progress, b *batch) error {
	if err := b.apply(ctx, x.database, p); err != nil {
		return permanently(err)
	}
	x.written = time.Now()
	for _, read := range b.slots {
		x.report.Transactions += uint64(len(read.transactions))
		for _, transaction := range read.transactions {
			x.report.Events += uint64(len(transaction.events))
		}
	}
	x.report.Checkpoint, x.report.Head = p.checkpoint, p.head
	x.config.Report(x.report)
	return nil
}

// follow indexes the transactions from the checkpoint to the head.
func (x *Indexer) follow(ctx context.Context) error {
	final, err := x.node.slot(ctx, rpc.CommitmentFinalized)
	if err != nil {
		return err
	}
	head := final
	if x.config.Commitment != rpc.CommitmentFinalized {
		if head, err = x.node.slot(ctx, x.config.Commitment); err != nil {
			return err
		}
	}
	listed, err := x.listed(ctx, head, final)
	if err != nil {
		return err
	}
	stored, err := storedAfter(ctx, x.database.statements(), x.progress.checkpoint)
	if err != nil {
		return permanently(err)
	}
	from, verified, err := x.compare(ctx, listed, stored, head, final)
	if err != nil {
		return err
	}
	return x.advance(ctx, listed, from, verified, head, final)
}

// advance deletes the rows from a fork on, if any, and indexes the listed transactions from there on.
func (x *Indexer) advance(ctx context.Context, listed [][]transaction.Listed, from fork, verified []uint64, head, final uint64) error {
	if from.slot != noSlot {
		at, _ := slices.BinarySearchFunc(listed, from.slot, func(entries []transaction.Listed, slot uint64) int { return cmp.Compare(entries[0].Slot, slot) })
		listed = listed[at:]
	} else {
		listed = nil
	}
	x.progress.head, x.progress.finalized = head, final
	b := &batch{verified: verified, limit: min(final, head) - min(final, head, transaction.SettledSlots)}
	var addresses []solana.PublicKey
	if from.deletes {
		b.from = &from.slot
		x.config.Logger.InfoContext(ctx, "fork: reading again", "from_slot", from.slot, "reason", from.why)
		var err error
		if addresses, err = x.since(ctx, from.slot); err != nil {
			return permanently(err)
		}
	}
	for {
		next := firstOf(listed)
		if b.from != nil {
			// One database transaction deletes the rows and adds their replacements.
			next = atLeastUpTo(listed, next, from.upTo)
		}
		slots, readErr := x.node.readSlots(ctx, next, final)
		if readErr != nil && (len(slots) == 0 || b.from != nil) {
			return readErr
		}
		listed = listed[len(slots):]
		b.slots, b.next = slots, noSlot
		if len(listed) > 0 {
			b.next = listed[0][0].Slot
		}
		err := x.readAccounts(ctx, b, append(addresses, negotiationsOf(slots)...), final)
		if err == nil && x.isWorthWriting(b) {
			err = x.apply(ctx, x.progress, b)
		}
		if err = errors.Join(err, readErr); err != nil || len(listed) == 0 {
			return err
		}
		b, addresses = &batch{limit: b.limit}, nil
	}
}

// firstOf returns a list's first slots, about transactionsAtOnce transactions.
func firstOf(listed [][]transaction.Listed) [][]transaction.Listed {
	count := 0
	for i, entries := range listed {
		count += len(entries)
		if count >= transactionsAtOnce {
			return listed[:i+1]
		}
	}
	return listed
}

// since returns the negotiations with events or account states in a slot or later.
func (x *Indexer) since(ctx context.Context, slot uint64) ([]solana.PublicKey, error) {
	return addressesIn(ctx, x.database.statements(), `SELECT DISTINCT negotiation FROM events WHERE slot >= $1 AND negotiation IS NOT NULL
		UNION SELECT negotiation FROM accounts WHERE as_of_slot >= $2`, int64(slot), int64(slot))
}

// atLeastUpTo extends a list's beginning through a slot.
func atLeastUpTo(listed, beginning [][]transaction.Listed, slot uint64) [][]transaction.Listed {
	count := len(beginning)
	for count < len(listed) && listed[count][0].Slot <= slot {
		count++
	}
	return listed[:count]
}

// isWorthWriting reports whether a batch has rows or accounts, moves the limit of the checkpoint by at least
// transaction.SettledSlots, or comes more than writeEvery after the last write.
func (x *Indexer) isWorthWriting(b *batch) bool {
	return b.from != nil || len(b.slots) > 0 || len(b.verified) > 0 || len(b.accounts) > 0 ||
		b.limit >= x.progress.checkpoint+transaction.SettledSlots || time.Since(x.written) > writeEvery
}

// readAccounts reads the accounts that have changed, and rereads accounts last read at a slot that became
// final since.
func (x *Indexer) readAccounts(ctx context.Context, b *batch, addresses []solana.PublicKey, final uint64) error {
	notBefore := uint64(0)
	if len(b.slots) > 0 {
		notBefore = b.slots[len(b.slots)-1].slot
	}
	if b.from != nil {
		notBefore = max(notBefore, *b.from)
	}
	slices.SortFunc(addresses, comparePublicKeys)
	addresses = slices.Compact(addresses)
	read, err := x.node.accounts(ctx, addresses, x.config.Commitment, notBefore)
	if err != nil {
		return err
	}
	for _, address := range addresses {
		found := read[address]
		b.accounts = append(b.accounts, accountState{address, found, found.slot <= final || x.config.Commitment == rpc.CommitmentFinalized})
	}
	unconfirmed, err := addressesIn(ctx, x.database.statements(),
		`SELECT negotiation FROM accounts WHERE NOT final AND checked_slot <= $1 ORDER BY checked_slot LIMIT $2`, int64(final), rechecksAtOnce)
	if err != nil {
		return permanently(err)
	}
	unconfirmed = slices.DeleteFunc(unconfirmed, func(address solana.PublicKey) bool { return slices.Contains(addresses, address) })
	if read, err = x.node.accounts(ctx, unconfirmed, rpc.CommitmentFinalized, final); err != nil {
		return err
	}
	for _, address := range unconfirmed {
		b.accounts = append(b.accounts, accountState{address, read[address], true})
	}
	return nil
}

func comparePublicKeys(a, b solana.PublicKey) int { return slices.Compare(a[:], b[:]) }
