package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"golang.org/x/term"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/mint"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
)

// session is one invocation: its streams, and its persistent flags.
type session struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	connection     connection.Flags
	json           bool
	timeout        duration.Flag

	// started says that the command line was in order.
	started bool
}

func (s *session) client() (*haggle.Client, error) { return s.connection.Client() }

func (s *session) disconnect() { _ = s.connection.Close() }

// clientAndKey is what every command needs that signs: a policy is around the key if there is one.
func (s *session) clientAndKey(ctx context.Context) (*haggle.Client, haggle.Signer, error) {
	key, err := s.connection.Signer(ctx)
	if err != nil {
		return nil, nil, err
	}
	client, err := s.client()
	return client, key, err
}

// agent is the address that a command is about: the one given, otherwise the wallet's.
func (s *session) agent(ctx context.Context, given connection.Address) (solana.PublicKey, error) {
	if !given.Key().IsZero() {
		return given.Key(), nil
	}
	return s.connection.Address(ctx)
}

// units reads an amount in base units of a mint.
func (s *session) units(ctx context.Context, address solana.PublicKey, flag string, text amount.Text) (uint64, error) {
	decimals := uint8(0)
	if !text.InUnits() {
		client, err := s.client()
		if err != nil {
			return 0, err
		}
		if decimals, err = mint.Decimals(ctx, client.RPC(), address); err != nil {
			return 0, err
		}
	}
	units, err := text.In(decimals)
	if err != nil {
		return 0, exitcode.Usagef("%s: %w", flag, err)
	}
	return units, nil
}

// tokensOf writes amounts of a mint.
func (s *session) tokensOf(ctx context.Context, address solana.PublicKey) (func(units uint64) amount.Tokens, error) {
	client, err := s.client()
	if err != nil {
		return nil, err
	}
	decimals, err := mint.Decimals(ctx, client.RPC(), address)
	return func(units uint64) amount.Tokens { return amount.Tokens{Units: units, Decimals: decimals} }, err
}

// print writes the result of a command: as JSON, or as lines of text.
func (s *session) print(document any, lines ...string) error {
	if s.json {
		return json.NewEncoder(s.stdout).Encode(document)
	}
	_, err := fmt.Fprintln(s.stdout, strings.Join(lines, "\n"))
	return err
}

// row is a line of a description: a name and a value in columns. An empty value gives no line.
type row struct{ name, value string }

func columns(rows ...row) string {
	width := 0
	for _, r := range rows {
		if r.value != "" {
			width = max(width, len(r.name))
		}
	}
	var lines []string
	for _, r := range rows {
		if r.value != "" {
			lines = append(lines, fmt.Sprintf("  %-*s  %s", width, r.name, r.value))
		}
	}
	return strings.Join(lines, "\n")
}

// interactive says whether somebody is there to answer a question.
func (s *session) interactive() bool {
	file, isFile := s.stdin.(*os.File)
	return isFile && !s.json && term.IsTerminal(int(file.Fd()))
}

// confirm asks a person; whatever is not "yes" is the refusal.
func (s *session) confirm(question, refusal string) error {
	fmt.Fprintf(s.stderr, "%s [yes/no] ", question)
	answer, _ := bufio.NewReader(s.stdin).ReadString('\n')
	if strings.TrimSpace(answer) != "yes" {
		return &exitcode.Error{Kind: exitcode.Other, Err: errors.New(refusal)}
	}
	return nil
}

// notFound says what to do where an account is missing.
func notFound(err error, hint string) error {
	if errors.Is(err, haggle.ErrAccountNotFound) || errors.Is(err, rpc.ErrNotFound) {
		return exitcode.WithHint(err, hint)
	}
	return err
}
