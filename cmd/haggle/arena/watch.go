package arena

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/client"
)

const watchHelp = `Prints what everybody may see of a market, as it happens, until it is resolved or Ctrl-C: messages on the
floor, interests, who talks with whom, and trades. After a failure of the connection it connects again.

Names and messages are written by strangers. They are printed as quoted text.`

// watchOptions holds the flags of haggle arena watch.
type watchOptions struct {
	*session.Session
}

// factView is an event.
type factView struct {
	// Number is the event number; 0 if not numbered for spectators.
	Number uint64    `json:"number,omitempty"`
	At     time.Time `json:"at"`
	// To lists the agents that receive the event; empty if public.
	To []string `json:"to,omitempty"`
	// Kind is the fact's name, and Fact the content: docs/schemas/arena/event.json.
	Kind string          `json:"kind"`
	Fact json.RawMessage `json:"fact"`
}

func watchCommand(s *session.Session) *cobra.Command {
	o := &watchOptions{Session: s}
	cmd := &cobra.Command{
		Use: "watch URL", Short: "Watch a market", Long: watchHelp,
		Example: "  haggle arena watch wss://arena.example/arena/likes",
	}
	command.Documents(cmd, factView{})
	cmd.RunE = s.Unlimited(func(ctx context.Context, arguments []string) error {
		return follow(ctx, client.Config{URL: arguments[0]}, s.Logger(slog.LevelWarn), o.printFact)
	})
	return cmd
}

// printFact prints a market event.
func (o *watchOptions) printFact(view *arena.View, event arena.Shown) error {
	fact, err := json.Marshal(event.Fact)
	if err != nil {
		return err
	}
	document := factView{Number: event.Number, At: event.At, Kind: event.Fact.Kind(), Fact: fact}
	line := describe(view, event.Fact)
	if line == "" && !o.JSON {
		return nil
	}
	return o.Print(document, event.At.Local().Format(time.TimeOnly)+"  "+line)
}

// longestPause limits the pause between connection attempts.
const longestPause = 30 * time.Second

// follow calls each with a market's events until resolution. It returns the error if the initial connection
// fails; later errors are logged, and it reconnects.
func follow(
	ctx context.Context, config client.Config, log *slog.Logger, each func(*arena.View, arena.Shown) error,
) error {
	pause := backoff.NewExponentialBackOff()
	pause.MaxInterval = longestPause
	connected := false
	for {
		ended, err := followOnce(ctx, &config, &connected, each)
		switch {
		case ended || ctx.Err() != nil:
			return context.Cause(ctx)
		case !connected:
			return err
		}
		wait := pause.NextBackOff()
		log.WarnContext(ctx, "connection ended", "error", err, "next attempt in", wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// followOnce follows one connection. It reports whether there is nothing more to follow.
func followOnce(
	ctx context.Context, config *client.Config, connected *bool, each func(*arena.View, arena.Shown) error,
) (ended bool, err error) {
	c, err := client.Dial(ctx, *config)
	if err != nil {
		return false, err
	}
	defer c.Close()
	standing := c.Standing()
	view := standing.View
	if !*connected {
		*connected, config.After = true, standing.Shown
	}
	for view.Phase != arena.PhaseResolved {
		event, err := c.Next(ctx)
		if err != nil {
			return false, err
		}
		if event.Number > standing.Shown {
			view.Observe(event.At, event.Fact)
		}
		if event.Number <= config.After {
			continue
		}
		config.After = event.Number
		if err := each(&view, event); err != nil {
			return true, fmt.Errorf("print: %w", err)
		}
	}
	return true, nil
}
