package localnet

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

// The Clock sysvar has five fields of eight bytes: slot, epoch start, epoch, epoch of the leader schedule and
// Unix time.
const (
	clockLength        = 40
	clockUnixTimestamp = 32
)

// Now reads the chain's Unix time in seconds, as of the last confirmed block. It can differ from the
// machine's time.
func (c *Chain) Now(ctx context.Context) (int64, error) {
	account, err := c.client.GetAccountInfoWithOpts(ctx, solana.SysVarClockPubkey,
		&rpc.GetAccountInfoOpts{Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return 0, fmt.Errorf("read the chain's clock: %w", err)
	}
	data := account.GetBinary()
	if len(data) < clockLength {
		return 0, fmt.Errorf("the chain's clock has %d bytes instead of %d", len(data), clockLength)
	}
	return int64(binary.LittleEndian.Uint64(data[clockUnixTimestamp:])), nil
}

// AdvanceTo waits for the chain's clock to reach unixTime, in seconds: later simulations and transactions
// observe at least that time. On in-process chains it sets the clock; on all other chains it waits. It returns
// at once if unixTime has passed, and an error that wraps the context's cause if the context ends first.
func (c *Chain) AdvanceTo(ctx context.Context, unixTime int64) error {
	set := false
	for {
		now, err := c.Now(ctx)
		if err != nil {
			return err
		}
		if now >= unixTime {
			return nil
		}
		if c.local != nil && !set {
			if err := c.local.advanceTo(unixTime); err != nil {
				return err
			}
			set = true
			continue
		}
		if err := wait.For(ctx, c.clockInterval(unixTime-now)); err != nil {
			return fmt.Errorf("chain's clock: %d s before %d: %w", unixTime-now, unixTime, err)
		}
	}
}

// clockInterval is the time between reads of the clock, which must advance by some seconds.
func (c *Chain) clockInterval(seconds int64) time.Duration {
	if c.local != nil {
		return 10 * time.Millisecond
	}
	if seconds > 2 {
		return time.Duration(seconds-1) * time.Second
	}
	return 200 * time.Millisecond
}
