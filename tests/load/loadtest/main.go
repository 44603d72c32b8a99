// Command loadtest runs many negotiations at once on a separate solana-test-validator and writes a report:
// `make load`.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/tests/load"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "loadtest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	options := load.Options{Progress: os.Stderr}
	flags := pflag.NewFlagSet("loadtest", pflag.ContinueOnError)
	flags.IntVar(&options.Pairs, "pairs", load.DefaultPairs, "number of concurrent negotiations")
	flags.IntVar(&options.InFlight, "in-flight", 0,
		fmt.Sprintf("largest number of actions in flight (default: the pairs, but at most %d)",
			load.DefaultInFlight))
	flags.IntVar(&options.Transfers, "transfers", 0,
		"number of wallets that send plain SPL transfers (default: the actions in flight)")
	report := flags.String("report", "", "file for the report; its plot is written next to it")
	limit := flags.Duration("limit", 20*time.Minute, "time limit of the run")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, *limit, fmt.Errorf("not finished after %s", *limit))
	defer cancel()
	result, err := load.Run(ctx, options)
	if err != nil {
		return err
	}
	fmt.Print(result.Page(""))
	if len(result.Findings) > 0 {
		return fmt.Errorf("%d findings (above); no report written", len(result.Findings))
	}
	if *report == "" {
		return nil
	}
	return result.Write(*report)
}
