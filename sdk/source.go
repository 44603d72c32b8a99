package haggle

import (
	"context"
	"strings"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// EventSource is where a client's subscriptions learn that something has happened. There are three: a node's WebSocket interface
// (the default), polling ([NewPolling]) for nodes without one, and Geyser over gRPC (package yellowstone).
//
// What a source tells is a hint. Before a listener is told anything, the client reads the chain's own list of transactions, so that
// a source may drop, repeat, delay or invent what it likes: that costs time or requests, and neither an event nor their order. The
// one thing that is believed is [Hint.Unrelated].
type EventSource interface {
	// Open begins a stream. The client has one at a time, which carries all its subscriptions, and opens the next one when it ends;
	// beside it each call of [Client.Listen] has one of its own.
	Open(ctx context.Context, options StreamOptions) (EventStream, error)
}

// StreamOptions say what a client wants to be told, and how.
type StreamOptions struct {
	// Commitment is how certain a transaction has to be before it is told of.
	Commitment rpc.CommitmentType
	// FromSlot is the first slot that the stream before this one may not have told everything of; zero if there was none. A source
	// that can repeat what has happened since begins there. The client looks for itself in any case.
	FromSlot uint64
	// Notify is told of each transaction. It returns at once and may be called from several goroutines.
	Notify func(Hint)
	// RPC is the client's own JSON-RPC client, for sources that have to ask.
	RPC *rpc.Client
}

// EventStream tells of transactions that mention certain addresses, until it ends. Subscribe and Unsubscribe are called by one
// goroutine.
type EventStream interface {
	// Subscribe adds addresses. When it returns, the stream tells of every transaction that mentions one of them from then on. After
	// an error the client closes the stream.
	Subscribe(ctx context.Context, addresses []solana.PublicKey) error
	// Unsubscribe takes addresses away. It does not wait until nothing more is told of them.
	Unsubscribe(addresses []solana.PublicKey) error
	// Done is closed when the stream has ended by itself.
	Done() <-chan struct{}
	// Err says why; it is only called then.
	Err() error
	// Close ends the stream and returns when nothing of it runs any more.
	Close()
}

// Hint is what a source tells: something has happened at an address.
type Hint struct {
	// Address is the one that was subscribed to.
	Address solana.PublicKey
	// Signature is the transaction's; zero if the source does not know it.
	Signature solana.Signature
	// Slot is when it was executed; zero if the source does not know it.
	Slot uint64
	// Unrelated says that the transaction's logs are known, and that this program was not called: see [CallsProgram]. The client
	// then does not fetch it, however many there are.
	Unrelated bool
}

// CallsProgram says whether a transaction with these logs may have called this program. It errs on the side of yes: logs that have
// been cut off may have lost the call.
func CallsProgram(logs []string) bool {
	for _, line := range logs {
		if line == "Log truncated" || strings.HasPrefix(line, invocation) {
			return true
		}
	}
	return false
}

// invocation is how the line begins with which a validator logs a call of this program.
const invocation = "Program " + protocol.ProgramAddress + " invoke"
