package load

import (
	"context"
	"syscall"
	"time"

	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/internal/report"
)

// describeMachine says what the figures have been measured on, without names.
func (r *Result) describeMachine(ctx context.Context, client *rpc.Client) error {
	version, err := client.GetVersion(ctx)
	if err != nil {
		return err
	}
	r.machine = report.Machine() + ", solana-test-validator " + version.SolanaCore
	return nil
}

// ownTime is the processor time that this process has used.
func ownTime() time.Duration { return processorTime(syscall.RUSAGE_SELF) }

// childTime is the processor time that children have used which have ended.
func childTime() time.Duration { return processorTime(syscall.RUSAGE_CHILDREN) }

func processorTime(who int) time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(who, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// cores is how many of them a processor time has kept busy on average.
func cores(used, elapsed time.Duration) float64 { return used.Seconds() / elapsed.Seconds() }
