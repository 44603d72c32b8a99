// Command loadtest loads the gateway beside pgbench and writes a report: `make gateway-load`.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/tests/gatewayload"
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
	options := gatewayload.Options{Progress: os.Stderr}
	flags := pflag.NewFlagSet("loadtest", pflag.ContinueOnError)
	flags.StringVar(&options.Program, "program", "", "path of the haggle command")
	flags.IntVar(&options.Publishers, "publishers", 0, "publishers in the database (default 1,000)")
	flags.IntVar(&options.Clients, "clients", 0, "clients in the database (default 100,000)")
	flags.IntVar(&options.Workers, "workers", 0, "requests in flight, and connections of pgbench (default 16)")
	flags.IntVar(&options.Processes, "processes", 0, "processes of haggle serve (default 1)")
	flags.IntVar(&options.Windows, "windows", 0, "measurements of each program in each mode (default 5)")
	flags.DurationVar(&options.Lasting, "lasting", 0, "time of a measurement, in whole seconds (default 20s)")
	report := flags.String("report", "", "file for the report")
	limit := flags.Duration("limit", 30*time.Minute, "time limit of the run")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, *limit, fmt.Errorf("not finished after %s", *limit))
	defer cancel()
	result, err := gatewayload.Run(ctx, options)
	if err != nil {
		return err
	}
	fmt.Print(result.Page())
	if len(result.Findings) > 0 {
		return fmt.Errorf("%d findings (above); no report written", len(result.Findings))
	}
	if *report != "" {
		if err := result.Write(*report); err != nil {
			return err
		}
	}
	if missed := result.Missed(); len(missed) > 0 {
		return fmt.Errorf("target missed: %s", strings.Join(missed, "; "))
	}
	return nil
}
