// Command loadtest puts the protocol under load on a solana-test-validator of its own and reports what came of it: see `make load`.
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
	flags.IntVar(&options.Pairs, "pairs", load.DefaultPairs, "how many negotiations are under way at once")
	flags.IntVar(&options.InFlight, "in-flight", 0, fmt.Sprintf("how many actions are under way at once (by default as many as pairs, but at most %d)", load.DefaultInFlight))
	flags.IntVar(&options.Transfers, "transfers", 0, "how many wallets send plain SPL transfers meanwhile (by default as many as actions are under way)")
	report := flags.String("report", "", "write the report to this file, and its drawing beside it")
	limit := flags.Duration("limit", 20*time.Minute, "give up after this time")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, *limit, fmt.Errorf("not done after %s", *limit))
	defer cancel()
	result, err := load.Run(ctx, options)
	if err != nil {
		return err
	}
	fmt.Print(result.Page(""))
	if len(result.Findings) > 0 {
		return fmt.Errorf("%d findings, which are told above; no report is written", len(result.Findings))
	}
	if *report == "" {
		return nil
	}
	return result.Write(*report)
}
