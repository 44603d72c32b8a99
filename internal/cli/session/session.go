// Package session represents a command line invocation: streams, persistent flags, client and wallet.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"golang.org/x/term"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/mint"
	"github.com/haggle-protocol/haggle/internal/cli/progress"
	"github.com/haggle-protocol/haggle/internal/cli/userinput"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Session is an invocation, with streams and persistent flags.
type Session struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Connection     connection.Flags
	JSON           bool
	// DryRun simulates actions instead of sending them.
	DryRun  bool
	Timeout duration.Flag

	// Started reports whether the command line was valid, so that the command itself has begun.
	Started bool

	progress *progress.Reporter
	// writing is locked while writing a message.
	writing sync.Mutex
	// lock protects mints: loggers in other goroutines write amounts.
	lock  sync.Mutex
	mints map[solana.PublicKey]mint.Mint
}

// Client connects to the cluster of --url. It returns the same client each time.
func (s *Session) Client() (*haggle.Client, error) { return s.Connection.Client() }

// Disconnect closes the client and the state database.
func (s *Session) Disconnect() { _ = s.Connection.Close() }

// ClientAndKey returns the client and the wallet, which enforces --policy on every signature.
func (s *Session) ClientAndKey(ctx context.Context) (*haggle.Client, haggle.Signer, error) {
	s.Connection.AmountOf = s.AmountOf
	key, err := s.Connection.Signer(ctx)
	if err != nil {
		return nil, nil, err
	}
	client, err := s.Client()
	return client, key, err
}

// Agent returns the given address, or the wallet's if none is given.
func (s *Session) Agent(ctx context.Context, given connection.Address) (solana.PublicKey, error) {
	if !given.Key().IsZero() {
		return given.Key(), nil
	}
	return s.Connection.Address(ctx)
}

// Print writes a command's result: the document as JSON, or the lines.
func (s *Session) Print(document any, lines ...string) error {
	if s.JSON {
		return json.NewEncoder(s.Stdout).Encode(document)
	}
	_, err := fmt.Fprintln(s.Stdout, strings.Join(lines, "\n"))
	return err
}

// Interactive reports whether questions can be answered: stdin is a terminal, and the output is not JSON.
func (s *Session) Interactive() bool {
	file, isFile := s.Stdin.(*os.File)
	return isFile && !s.JSON && term.IsTerminal(int(file.Fd()))
}

// Confirm asks a question on the terminal. It returns the refusal as an error unless the answer is "y" or
// "yes".
func (s *Session) Confirm(ctx context.Context, question, refusal string) error {
	defer s.progress.Pause()()
	fmt.Fprintf(s.Stderr, "%s [y/n] ", question)
	answer, err := userinput.Line(ctx, s.Stdin)
	if ctx.Err() != nil {
		fmt.Fprintln(s.Stderr)
		return ctx.Err()
	}
	if err != nil || !userinput.IsYes(answer) {
		return &exitcode.Error{Kind: exitcode.Other, Err: errors.New(refusal),
			Hint: fmt.Sprintf("the answer was %q; y or yes confirms", answer)}
	}
	return nil
}

// NotFound adds a hint to a missing account error.
func NotFound(err error, hint string) error {
	if errors.Is(err, protocol.ErrAccountNotFound) || errors.Is(err, rpc.ErrNotFound) {
		return exitcode.WithHint(err, hint)
	}
	return err
}
