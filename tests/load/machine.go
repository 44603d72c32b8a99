package load

import (
	"context"
	"syscall"
	"time"

	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/internal/report"
)

// describeMachine sets the description of the machine and the validator, without names.
func (r *Result) describeMachine(ctx context.Context, client *rpc.Client) error {
	version, err := client.GetVersion(ctx)
	if err != nil {
		return err
	}
	r.machine = report.Machine() + ", solana-test-validator " + version.SolanaCore
	return nil
}

// ownTime returns the processor time of this process.
func ownTime() time.Duration { return processorTime(syscall.RUSAGE_SELF) }

// childTime returns the processor time of ended child processes.
func childTime() time.Duration { return processorTime(syscall.RUSAGE_CHILDREN) }

func processorTime(who int) time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(who, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// cores returns the average number of busy cores.
func cores(used, elapsed time.Duration) float64 { return used.Seconds() / elapsed.Seconds() }
