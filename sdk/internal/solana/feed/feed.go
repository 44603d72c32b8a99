// Package feed delivers the events of any program: it subscribes to a source of hints, reads the node's lists
// of transactions, and delivers each event once and in the chain's order.
package feed

import (
	"context"
	"errors"
	"log/slog"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/internal/fifocache"
)

// ErrClosed: the feed is closed with the client, and so are the subscriptions.
var ErrClosed = errors.New("the client is closed")

// Options describe the chain and the program.
type Options struct {
	// RPC sends requests to the nodes.
	RPC *rpc.Client
	// Program is the program whose events are delivered.
	Program solana.PublicKey
	// Commitment is the commitment required of transactions.
	Commitment rpc.CommitmentType
	// Source sends the hints.
	Source events.Source
	// Logger logs when the source's stream ends and returns.
	Logger *slog.Logger
	// Transaction returns an executed transaction, or nil if no node returns it. With wait it repeats the
	// request for a while.
	Transaction func(
		ctx context.Context, signature solana.Signature, wait bool,
	) (*rpc.GetTransactionResult, error)
	// Decode returns the program's events in a transaction. truncated reports whether further events may
	// exist.
	Decode func(transaction *rpc.GetTransactionResult) (events []Event, truncated bool)
	// Accounts returns the accounts of the program that belong to a wallet.
	Accounts func(ctx context.Context, wallet solana.PublicKey) ([]solana.PublicKey, error)
}

// Event is an event of the program.
type Event struct {
	// Account is the event's account; zero if none.
	Account solana.PublicKey
	// Value is the decoded event.
	Value any
	// Creates lists the wallets that own the account, if the event creates it.
	Creates []solana.PublicKey
	// Closes reports whether the event closes the account.
	Closes bool
}

// Delivery is an event of a transaction.
type Delivery struct {
	Signature solana.Signature
	Slot      uint64
	// Account is the event's account. It is zero for a wallet's truncated transaction.
	Account solana.PublicKey
	// Event is the decoded event; nil if Truncated.
	Event any
	// Truncated reports whether the transaction may contain further events.
	Truncated bool
	// Late reports whether a later event of the same account was delivered before.
	Late bool
}

// New returns a feed. It sends nothing until the first subscription.
func New(options Options) *Feed {
	f := &Feed{
		Options:      options,
		topics:       make(map[solana.PublicKey]*topic),
		abandoned:    make(map[solana.PublicKey]struct{}),
		unrelated:    fifocache.NewMap[solana.Signature, uint64](unrelatedKept),
		wake:         make(chan struct{}, 1),
		reconcileNow: make(chan struct{}, 1),
	}
	f.closing, f.cancel = context.WithCancel(context.Background())
	return f
}

// Close ends all subscriptions and returns when all goroutines have ended.
func (f *Feed) Close() {
	f.closeLock.Lock()
	f.cancel()
	f.closeLock.Unlock()
	f.running.Wait()
}

// Reconcile makes the feed search for missed transactions now.
func (f *Feed) Reconcile() { signal(f.reconcileNow) }

// start runs a function that Close waits for. It returns false if the feed is closed.
func (f *Feed) start(run func()) bool {
	f.closeLock.Lock()
	defer f.closeLock.Unlock()
	if f.closing.Err() != nil {
		return false
	}
	f.running.Go(run)
	return true
}
