package load

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
)

// describeMachine says what the figures have been measured on, without names.
func (r *Result) describeMachine(ctx context.Context, client *rpc.Client) error {
	version, err := client.GetVersion(ctx)
	if err != nil {
		return err
	}
	r.machine = fmt.Sprintf("%d cores", runtime.NumCPU())
	if gigabytes := memory() >> 30; gigabytes > 0 {
		r.machine += fmt.Sprintf(", %d GiB of memory", gigabytes)
	}
	r.machine += fmt.Sprintf(", %s/%s, %s, solana-test-validator %s", runtime.GOOS, runtime.GOARCH, runtime.Version(), version.SolanaCore)
	return nil
}

// memory is the machine's in bytes; zero where the system does not say it as Linux does.
func memory() uint64 {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemTotal:"); ok {
			var kibibytes uint64
			if _, err := fmt.Sscan(rest, &kibibytes); err == nil {
				return kibibytes << 10
			}
		}
	}
	return 0
}

// ownTime is the processor time that this process has used.
func ownTime() time.Duration { return processorTime(syscall.RUSAGE_SELF) }

// childrensTime is the processor time that children have used which have ended.
func childrensTime() time.Duration { return processorTime(syscall.RUSAGE_CHILDREN) }

func processorTime(who int) time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(who, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// cores is how many of them a processor time has kept busy on average.
func cores(used, elapsed time.Duration) float64 { return used.Seconds() / elapsed.Seconds() }
