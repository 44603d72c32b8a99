package localnet

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// The Clock sysvar: slot, start of the epoch, epoch, epoch of the leader schedule and Unix time, eight bytes each.
const (
	clockLength        = 40
	clockUnixTimestamp = 32
)

// Now is the chain's Unix time in seconds, as a confirmed block's transactions see it. It may differ from the machine's.
func (c *Chain) Now(ctx context.Context) (int64, error) {
	account, err := c.client.GetAccountInfoWithOpts(ctx, solana.SysVarClockPubkey, &rpc.GetAccountInfoOpts{Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return 0, fmt.Errorf("read the chain's clock: %w", err)
	}
	data := account.GetBinary()
	if len(data) < clockLength {
		return 0, fmt.Errorf("the chain's clock has %d bytes instead of %d", len(data), clockLength)
	}
	return int64(binary.LittleEndian.Uint64(data[clockUnixTimestamp:])), nil
}

// AdvanceTo returns once the chain's clock has reached unixTime (in seconds), so that both a simulation and a transaction
// that start then see it reached. Surfpool's clock is set; a validator's is waited for. A time that has passed is fine.
func (c *Chain) AdvanceTo(ctx context.Context, unixTime int64) error {
	travelled := false
	for {
		now, err := c.Now(ctx)
		if err != nil {
			return err
		}
		if now >= unixTime {
			return nil
		}
		if c.travels && !travelled {
			if err := c.travel(ctx, unixTime); err != nil {
				return err
			}
			travelled = true
			continue
		}
		if err := pause(ctx, c.untilNextLook(unixTime-now)); err != nil {
			return fmt.Errorf("the chain's clock is %d s before %d: %w", unixTime-now, unixTime, err)
		}
	}
}

func (c *Chain) untilNextLook(seconds int64) time.Duration {
	if c.travels {
		return 10 * time.Millisecond
	}
	if seconds > 2 {
		return time.Duration(seconds-1) * time.Second
	}
	return 200 * time.Millisecond
}

// travel sets surfpool's clock. The clock runs meanwhile, so that the target may have passed when the request arrives.
func (c *Chain) travel(ctx context.Context, unixTime int64) error {
	target := map[string]int64{"absoluteTimestamp": unixTime * 1000}
	var epoch struct{}
	err := c.client.RPCCallForInto(ctx, &epoch, "surfnet_timeTravel", []any{target})
	if err == nil {
		return nil
	}
	if now, nowErr := c.Now(ctx); nowErr == nil && now >= unixTime {
		return nil
	}
	return fmt.Errorf("set the chain's clock to %d: %w", unixTime, err)
}

// pause waits, unless the context ends first.
func pause(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
