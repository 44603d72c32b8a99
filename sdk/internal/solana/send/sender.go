// Package send signs and sends transactions of any program, resends them until execution or expiry, and
// returns their outcomes. A transaction counts as expired only above a minimum age and if no node that
// responds contradicts the expiry.
package send

import (
	"context"
	"log/slog"

	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Options configure a sender.
type Options struct {
	// RPC sends requests through Pool, and Node to one of its nodes.
	RPC  *rpc.Client
	Pool *rpcpool.Pool
	Node func(rpcpool.Single) *rpc.Client
	// Commitment is the commitment of broadcasts.
	Commitment rpc.CommitmentType
	// Closing ends when the sender is closed; then Closed is the error of waiting for an outcome.
	Closing context.Context
	Closed  error
	// Start runs a function in the background, and returns false if the sender is closed.
	Start func(func()) bool
	// Logger logs contradictions of nodes.
	Logger *slog.Logger
	// Explain returns the errors of failed transactions; nil returns them as they are.
	Explain Explain
}

// Sender sends transactions and waits for their outcomes. It may be used by several goroutines.
type Sender struct {
	Options
	statuses *statusPoller
}

// New returns a sender and sends nothing.
func New(options Options) *Sender {
	sender := &Sender{Options: options}
	sender.statuses = newStatusPoller(sender)
	return sender
}

// eachNodeIncludingStale calls do with the nodes sequentially, the fittest first, while do returns true. It
// accepts responses from nodes that are behind.
func (s *Sender) eachNodeIncludingStale(do func(node *rpc.Client) (next bool)) {
	s.Pool.Each("getSignatureStatuses", func(single rpcpool.Single) bool {
		return do(s.Node(single.HoweverOld()))
	})
}

// unsent returns an error from before the send.
func unsent(err error) error { return transaction.WithOutcome(err, transaction.NotSent) }

// opaque returns an error that proves nothing about the transaction: a context's cause belongs to the caller.
func opaque(err error) error { return transaction.WithOutcome(err, transaction.Unknown) }
