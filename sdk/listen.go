package haggle

import (
	"context"
	"fmt"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Listen receives a hint for every transaction that mentions an address, until the context or the client
// ends. It returns the reason. With [protocol.ProgramID] these are all transactions of the program;
// [Client.Events] returns their events.
//
// Listen uses the stream of the client's subscriptions, which reconnects. connected reports each time whether
// hints arrive. A hint may come twice, late or never: a caller that must not miss anything lists the state
// when connected reports true, and from time to time. [Client.Watch] and [Client.WatchAgent] do that for
// their listeners. Both functions return at once and do not call the client; they may run in several
// goroutines, but not after Listen has returned.
//
// It returns a [*node.Error] if the node refuses to subscribe.
func (c *Client) Listen(
	ctx context.Context, address solana.PublicKey, connected func(bool), received func(events.Hint),
) error {
	if c.closing.Err() != nil {
		return ErrClientClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.closing, func() { cancel(ErrClientClosed) })()
	l := &listener{connected: connected, received: received, cancel: cancel}
	joined := c.sharedStream()
	if err := joined.attachListener(l, address); err != nil {
		return err
	}
	defer l.end()
	defer joined.detach(l, address)
	<-ctx.Done()
	return context.Cause(ctx)
}

// listener is the subscriber of a call of Listen.
type listener struct {
	connected func(bool)
	received  func(events.Hint)
	cancel    context.CancelCauseFunc

	lock  sync.Mutex
	ended bool
}

// end stops the calls of both functions.
func (l *listener) end() {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.ended = true
}

func (l *listener) hint(h events.Hint, _ bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if !l.ended && !h.Unrelated {
		l.received(h)
	}
}

func (l *listener) setConnected(connected bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if !l.ended {
		l.connected(connected)
	}
}

func (l *listener) fail(err error) { l.cancel(err) }

// refresh and hasListed do nothing: the caller lists the state itself.
func (l *listener) refresh(solana.PublicKey)                {}
func (l *listener) hasListed(solana.PublicKey, uint64) bool { return true }

// Events returns the program's events of one executed transaction; none for a failed transaction. If the node
// does not have the transaction yet, it retries for up to 15 seconds and then returns
// [transaction.ErrDetailsUnavailable]. If the logs are cut off or of a later version, it returns an error
// together with the events that it can read.
func (c *Client) Events(ctx context.Context, signature solana.Signature) ([]protocol.Event, error) {
	details, err := c.executed(ctx, signature, detailsLimit)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", transaction.ErrDetailsUnavailable, signature, err)
	}
	if details.Meta.Err != nil {
		return nil, nil
	}
	return protocol.ParseLogs(details.Meta.LogMessages)
}
