// Command haggle negotiates on Solana from a terminal or a script: it creates negotiations, makes and accepts
// offers, watches, and runs a local chain and a demonstration.
//
//	haggle localnet a local chain with the program, and funded agents
//	haggle negotiation create ... escrow the maximum price and invite a seller
//	haggle negotiation watch NEGOTIATION print each event
//	haggle help exit-codes the exit codes
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/haggle-protocol/haggle/cmd/haggle/demo"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/localnets"
	"github.com/haggle-protocol/haggle/internal/cli/session"
)

func main() {
	demo.RunAgent(os.Args[1:])
	os.Exit(execute(os.Stdout, os.Stderr))
}

// execute executes the process's command line to completion or until a signal, and returns the exit code.
func execute(stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	return run(ctx, os.Args[1:], os.Stdin, stdout, stderr)
}

// explain names the local chains that are running if the endpoint does not answer.
func explain(s *session.Session, err error) error {
	if exitcode.KindOf(err) != exitcode.Network {
		return err
	}
	settings, settleErr := s.Connection.Settle()
	if settleErr != nil {
		return err
	}
	return exitcode.WithHint(err, localnets.Hint(settings.Endpoint))
}

// run executes a command line and returns the exit code.
func run(ctx context.Context, arguments []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := &session.Session{Stdin: stdin, Stdout: stdout, Stderr: stderr}
	defer s.Disconnect()
	root := newRootCommand(s)
	root.SetArgs(arguments)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !s.Started {
		err = exitcode.AsUsage(flagGroupError(err), cmd.CommandPath()+" --help")
	}
	return exitcode.Report(stderr, "haggle", exitcode.WithAmounts(explain(s, err), s.AmountOf), s.JSON || slices.Contains(arguments, "--json"))
}
