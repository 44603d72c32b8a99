package haggle

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Hear tells of every transaction that mentions an address until the context or the client ends, or the source of events fails; it
// returns why. With [protocol.ProgramID] these are all transactions of the program, whoever's negotiations they are about: [Client.Events]
// says what they have done.
//
// What is heard is a hint, as [EventSource] has it: it may come twice, late or never, and what happened before is not told. Whoever
// must not miss anything lists what there is once ready is called, and from time to time; [Client.Watch] and [Client.WatchAgent] do
// that for their listeners. ready is called when everything from then on is told of; heard is to return at once, and may be called
// by several goroutines, though not after Hear has returned. Each call has a stream of its own.
func (c *Client) Hear(ctx context.Context, address solana.PublicKey, ready func(), heard func(Notice)) error {
	c.lock.Lock()
	if c.closing.Err() != nil {
		c.lock.Unlock()
		return ErrClientClosed
	}
	c.running.Add(1)
	c.lock.Unlock()
	defer c.running.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.closing, func() { cancel(ErrClientClosed) })()

	stream, err := c.eventSource().Open(ctx, StreamOptions{Commitment: c.commitment, RPC: c.rpc, Notify: func(n Notice) {
		if n.Address == address && !n.Unrelated {
			heard(n)
		}
	}})
	if err != nil {
		return endOf(ctx, err)
	}
	defer stream.Close()
	if err := stream.Subscribe(ctx, []solana.PublicKey{address}); err != nil {
		return endOf(ctx, err)
	}
	ready()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-stream.Done():
		return endOf(ctx, stream.Err())
	}
}

// endOf is the context's cause if that has ended, and otherwise what has gone wrong.
func endOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Events are what the program tells of one transaction that has been executed: none for one that has failed. It waits for a moment
// for a node that does not have the transaction yet, and then fails with [ErrDetailsUnavailable]. If logs have been cut off, or are of
// a later version, there is an error beside the events that can be read.
func (c *Client) Events(ctx context.Context, signature solana.Signature) ([]protocol.Event, error) {
	details, err := c.executed(ctx, signature, detailsLimit)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDetailsUnavailable, signature, err)
	}
	if details.Meta.Err != nil {
		return nil, nil
	}
	return protocol.ParseLogs(details.Meta.LogMessages)
}
