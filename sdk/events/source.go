// Package events contains the sources that notify a client of new transactions, for users that choose or
// implement a source. It supports any program.
package events

import (
	"context"
	"strings"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// Source notifies a client's subscriptions of new transactions. There are three: a node's WebSocket interface
// (the default), polling ([NewPolling]) for nodes that lack it, and Geyser over gRPC (package yellowstone).
//
// A notification is a hint. The client reads the chain's own list of transactions before it delivers an
// event. A source that drops, repeats, delays or invents hints therefore costs time or requests; it cannot
// lose, forge or reorder events. Only [Hint.Unrelated] is not verified.
type Source interface {
	// Open begins a stream. A client uses a single stream at a time for all subscriptions, and opens the next
	// stream when it ends.
	Open(ctx context.Context, options Options) (Stream, error)
}

// Options configures a stream.
type Options struct {
	// Program selects the transactions that the client wants.
	Program solana.PublicKey
	// Commitment is required of a transaction before the source reports it.
	Commitment rpc.CommitmentType
	// FromSlot is the first slot where the previous stream may have missed transactions; zero if there was
	// none. A source that can replay begins there. The client lists the transactions itself in any case.
	FromSlot uint64
	// Notify receives each hint. It returns at once and may be called from several goroutines.
	Notify func(Hint)
	// RPC is the client's own JSON-RPC client, for sources that send requests.
	RPC *rpc.Client
}

// Stream sends hints about transactions that mention certain addresses, until it ends. Subscribe and
// Unsubscribe are called by a single goroutine.
type Stream interface {
	// Subscribe adds addresses. When it returns, the stream sends a hint for every later transaction that
	// mentions any of them. If it returns an error, the client closes the stream.
	Subscribe(ctx context.Context, addresses []solana.PublicKey) error
	// Unsubscribe removes addresses. Hints of them may still arrive after it returns.
	Unsubscribe(addresses []solana.PublicKey) error
	// Done is closed when the stream ended by itself.
	Done() <-chan struct{}
	// Err returns the reason for the end. It is called only after Done is closed.
	Err() error
	// Close ends the stream and returns when all goroutines have ended.
	Close()
}

// Hint is a notification by a source: a new transaction may mention an address.
type Hint struct {
	// Address is the subscribed address.
	Address solana.PublicKey
	// Signature is the transaction's; zero if unknown.
	Signature solana.Signature
	// Slot is the transaction's slot; zero if unknown.
	Slot uint64
	// Unrelated reports whether the transaction's logs are known and show no call of [Options].Program: see
	// [CallsProgram]. The client does not fetch such a transaction.
	Unrelated bool
}

// CallsProgram reports whether a transaction with these logs may have called a program. It returns true if the
// logs are cut off, because they may have lost the call.
func CallsProgram(logs []string, program solana.PublicKey) bool {
	invocation := "Program " + program.String() + " invoke"
	for _, line := range logs {
		if line == "Log truncated" || strings.HasPrefix(line, invocation) {
			return true
		}
	}
	return false
}
