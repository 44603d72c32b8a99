package session

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/progress"
)

// ErrDryRun ends a command after the simulation of --dry-run. Limited returns nil for it.
var ErrDryRun = errors.New("dry run")

// Limited runs a command that ends by itself, within --timeout. It shows progress if that takes longer than
// [progress.Delay].
func (s *Session) Limited(act func(ctx context.Context, arguments []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, arguments []string) error {
		ctx, cancel := s.withTimeout(cmd.Context())
		defer cancel()
		s.Started = true
		defer s.ShowProgress("waiting for the endpoint")()
		if err := act(ctx, arguments); !errors.Is(err, ErrDryRun) {
			return err
		}
		return nil
	}
}

// Unlimited runs a command until stopped, or until --timeout if set. The command shows progress itself.
func (s *Session) Unlimited(act func(ctx context.Context, arguments []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, arguments []string) error {
		ctx, cancel := cmd.Context(), func() {}
		if cmd.Flags().Changed("timeout") {
			ctx, cancel = s.withTimeout(ctx)
		}
		defer cancel()
		s.Started = true
		return act(ctx, arguments)
	}
}

func (s *Session) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.Timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(s.Timeout))
}

// ShowProgress reports on stderr that the command is still running, until the function that it returns is
// called. It also covers the prompts of the wallet, during which nothing is reported.
func (s *Session) ShowProgress(stage string) (stop func()) {
	s.progress = progress.Start(messages{s}, stage, s.JSON)
	s.Connection.Prompting = s.progress.Pause
	return s.progress.Stop
}

// Report writes a step of the command to stderr at once.
func (s *Session) Report(stage string) { s.progress.Report(stage) }

// Stage names the command step that begins, for the progress report.
func (s *Session) Stage(stage string) { s.progress.Stage(stage) }

// Logger returns a logger that writes messages at or over this level to stderr, as JSON with --json. AmountOf
// formats the amounts in errors; JSON contains base units.
func (s *Session) Logger(level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if s.JSON {
		return slog.New(slog.NewJSONHandler(messages{s}, options))
	}
	options.ReplaceAttr = exitcode.LogAmounts(s.AmountOf)
	return slog.New(slog.NewTextHandler(messages{s}, options))
}

// messages is stderr for the loggers and the progress report, which write from goroutines of their own.
type messages struct{ session *Session }

func (m messages) Write(message []byte) (int, error) {
	m.session.writing.Lock()
	defer m.session.writing.Unlock()
	return m.session.Stderr.Write(message)
}

// Colourful reports whether the output is a terminal whose user accepts colours (https://no-color.org).
func (s *Session) Colourful() bool {
	return os.Getenv("NO_COLOR") == "" && progress.IsTerminal(s.Stdout)
}
