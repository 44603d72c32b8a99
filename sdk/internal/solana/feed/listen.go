package feed

import (
	"context"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/events"
)

// Listen passes the hints of transactions that mention address to received, until the context or the feed
// ends. It returns the reason. connected receives each time whether hints arrive. Both functions return at
// once.
func (f *Feed) Listen(
	ctx context.Context, address solana.PublicKey, connected func(bool), received func(events.Hint),
) error {
	if f.closing.Err() != nil {
		return ErrClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(f.closing, func() { cancel(ErrClosed) })()
	l := &listener{connected: connected, received: received, cancel: cancel}
	if err := f.attachListener(l, address); err != nil {
		return err
	}
	defer l.end()
	defer f.detach(l, address)
	<-ctx.Done()
	return context.Cause(ctx)
}

// listener is the subscriber for a call of Listen.
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

// refresh and recordUnchanged do nothing: the caller lists the state itself.
func (l *listener) refresh(solana.PublicKey)                              {}
func (l *listener) recordUnchanged(solana.PublicKey, uint64, uint64) bool { return true }
