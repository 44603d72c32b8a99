package jobs

import (
	"context"
	"log/slog"
	"strings"
)

// quiet returns a logger without River's messages below a warning, and without errors from stopping. River's
// maintenance services cancel their statements when they stop, and log the cancellation as an error. A stop
// within the first seconds after a start always causes one, because the first periodic jobs are inserted only
// then.
func quiet(logger *slog.Logger) *slog.Logger {
	return slog.New(&warnings{logger.Handler()})
}

// connectionClosed is pgx's error for a connection closed because a statement was canceled.
const connectionClosed = "conn closed"

// warnings is a handler for River.
type warnings struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (w *warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// Handle implements [slog.Handler]. It skips the canceled statements of a stopping service: the service's
// context is done, and the error is the context's, or comes from the closed connection. Other errors are
// logged even then.
func (w *warnings) Handle(ctx context.Context, record slog.Record) error {
	if ctx.Err() != nil {
		cancelled := false
		record.Attrs(func(a slog.Attr) bool {
			text := a.Value.String()
			cancelled = a.Key == "error" &&
				(strings.HasSuffix(text, context.Canceled.Error()) || strings.HasSuffix(text, connectionClosed))
			return !cancelled
		})
		if cancelled {
			return nil
		}
	}
	return w.Handler.Handle(ctx, record)
}

// WithAttrs implements [slog.Handler].
func (w *warnings) WithAttrs(attributes []slog.Attr) slog.Handler {
	return &warnings{w.Handler.WithAttrs(attributes)}
}

// WithGroup implements [slog.Handler].
func (w *warnings) WithGroup(name string) slog.Handler { return &warnings{w.Handler.WithGroup(name)} }
