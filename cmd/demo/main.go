// Command demo lets two agents bargain on a local chain, by default within one process, and settles their
// agreement:
//
//	go run ./cmd/demo
//
// It imports only what an agent needs, so that it compiles within a minute. "haggle demo" does the same with
// agents in separate processes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/haggle-protocol/haggle/internal/cli/demo"
)

const usage = `Starts a local chain with the program, runs a buyer and a seller, which know only each other's address,
and prints their actions on chain until the negotiation is settled and closed. At the end it checks all
balances: the exit code is 0 only if the escrow was conserved to the unit, and all rent was returned.

Flags:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// The exit codes are haggle's.
const (
	failed      = 1
	misused     = 2
	interrupted = 130
)

func run(ctx context.Context, arguments []string, out, progress io.Writer) int {
	flags := pflag.NewFlagSet("demo", pflag.ContinueOnError)
	flags.Usage = func() {}
	options := demo.Options{Out: out, Progress: progress, Agents: play}
	flags.BoolVar(&options.JSON, "json", false, "print each action and the balances as a JSON document")
	err := flags.Parse(arguments)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(out, usage, flags.FlagUsages())
		return 0
	case err != nil:
		fmt.Fprintf(progress, "demo: %v\n\nSee demo --help.\n", err)
		return misused
	}
	options.Colour = out == io.Writer(os.Stdout) && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(os.Stdout.Fd()))
	switch _, err := demo.Run(ctx, options); {
	case ctx.Err() != nil:
		fmt.Fprintln(progress, "demo: interrupted")
		return interrupted
	case err != nil:
		fmt.Fprintln(progress, "demo:", err)
		return failed
	}
	return 0
}
