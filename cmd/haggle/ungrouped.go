package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	cli "github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

// session is the session of the commands that have no folder yet: policy, keeper and index.
type session struct {
	cli            *cli.Session
	connection     *connection.Flags
	stdout, stderr io.Writer
	json           bool
}

func ungrouped(s *cli.Session) *session {
	return &session{cli: s, connection: &s.Connection, stdout: s.Stdout, stderr: s.Stderr}
}

func (s *session) client() (*haggle.Client, error) { return s.cli.Client() }

func (s *session) clientAndKey(ctx context.Context) (*haggle.Client, haggle.Signer, error) {
	return s.cli.ClientAndKey(ctx)
}

func (s *session) print(document any, lines ...string) error { return s.cli.Print(document, lines...) }

func (s *session) limited(act func(ctx context.Context, arguments []string) error) func(*cobra.Command, []string) error {
	return s.cli.Limited(s.with(act))
}

func (s *session) unlimited(act func(ctx context.Context, arguments []string) error) func(*cobra.Command, []string) error {
	return s.cli.Unlimited(s.with(act))
}

func (s *session) with(act func(ctx context.Context, arguments []string) error) func(context.Context, []string) error {
	return func(ctx context.Context, arguments []string) error {
		s.json = s.cli.JSON
		return act(ctx, arguments)
	}
}

var (
	newGroupCommand = command.Group
	exactly         = command.Exactly
	required        = command.Required
	percent         = format.Percent
)

type row struct{ name, value string }

func columns(rows ...row) string {
	var lines format.Rows
	for _, r := range rows {
		lines = append(lines, [2]string{r.name, r.value})
	}
	return lines.String()
}
