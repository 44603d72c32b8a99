package haggle

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
)

// leasePoll is the interval for reading the journal while another client holds the lease on an entry.
const leasePoll = time.Second

var errLeased = errors.New("haggle: another client waits for the outcome")

// pauseForLease waits until the journal must be read again.
func (c *Client) pauseForLease(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return unsent(context.Cause(ctx))
	case <-c.closing.Done():
		return unsent(ErrClientClosed)
	case <-time.After(leasePoll):
		return nil
	}
}

// afterLease waits for another client's lease to end. The result contains a flight if the entry is unfinished
// then.
func (c *Client) afterLease(ctx context.Context, entry JournalEntry) (unfinishedEntry, error) {
	for began := time.Now(); time.Since(began) < send.OutcomeLimit; {
		if err := c.pauseForLease(ctx); err != nil {
			return unfinishedEntry{entry: entry}, err
		}
		all, err := c.inFlight.unfinished(ctx, entry.Wallet, c.resolve)
		if err != nil {
			return unfinishedEntry{entry: entry}, err
		}
		i := slices.IndexFunc(all, func(one unfinishedEntry) bool { return one.entry.Signature == entry.Signature })
		if i < 0 {
			return unfinishedEntry{entry: entry}, nil
		}
		if all[i].flight != nil {
			return all[i], nil
		}
	}
	return unfinishedEntry{entry: entry}, errLeased
}
