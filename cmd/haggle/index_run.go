package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/indexer"
)

const indexRunHelp = `Indexes what has happened since the last time, and then what happens, until Ctrl-C; with --once it stops when
it has caught up. It can be stopped, or killed, at any time: the next run goes on from there, and nothing is
missing or there twice.

With --commitment confirmed (the default) the newest rows, of about 13 seconds, can still be taken back if the
chain forks; they are then read again. With finalized they cannot.`

const (
	defaultIndexRate = 50
	// reportEvery is how often progress is told.
	reportEvery = 2 * time.Second
)

func newIndexRunCommand(i *indexCommand) *cobra.Command {
	var once bool
	poll := duration.Flag(time.Second)
	rate := float64(defaultIndexRate)
	cmd := &cobra.Command{
		Use: "run", Short: "Index, and go on indexing", Long: indexRunHelp,
		Example: `  haggle index run --url devnet
  haggle index run --once --db sqlite:/var/lib/haggle.db --commitment finalized
  PGPASSWORD=... haggle index run --db postgres://haggle@db.example/haggle`,
		Args: exactly(0),
	}
	cmd.Flags().BoolVar(&once, "once", false, "catch up and stop")
	cmd.Flags().Var(&poll, "poll", "how long to wait between looks at the chain")
	cmd.Flags().Float64Var(&rate, "rate", rate, "most requests per second to the endpoint (0: no limit)")
	cmd.RunE = i.unlimited(func(ctx context.Context, _ []string) error {
		if poll <= 0 {
			return exitcode.Usagef("--poll: at least a moment: 1s")
		}
		if rate < 0 {
			return exitcode.Usagef("--rate: %v is less than nothing", rate)
		}
		return i.run(ctx, indexer.Config{Once: once, Poll: time.Duration(poll), RequestsPerSecond: rate})
	})
	return cmd
}

func (i *indexCommand) run(ctx context.Context, config indexer.Config) error {
	settings, err := i.connection.Settle()
	if err != nil {
		return err
	}
	client, err := i.client()
	if err != nil {
		return err
	}
	database, err := indexer.Open(ctx, i.where())
	if err != nil {
		return indexFailure(err)
	}
	config.RPC, config.Commitment = client.RPC(), settings.Commitment
	config.Logger = i.logger()
	progress := &indexProgress{session: i.session}
	config.Report = progress.report
	indexer, err := indexer.New(database, config)
	if err == nil {
		err = indexer.Run(ctx)
	}
	if stopped := ctx.Err(); stopped != nil && !config.Once && !errors.Is(stopped, context.DeadlineExceeded) {
		err = nil // Ctrl-C is how one ends it
	}
	if err == nil {
		// The context may have ended; what has been done can be told all the same.
		err = i.tell(context.WithoutCancel(ctx), database)
	}
	return indexFailure(errors.Join(err, database.Close()))
}

func (i *indexCommand) logger() *slog.Logger {
	if i.json {
		return slog.New(slog.NewJSONHandler(i.stderr, nil))
	}
	return slog.New(slog.NewTextHandler(i.stderr, nil))
}

// indexProgress tells from time to time how far the indexer is.
type indexProgress struct {
	*session
	told time.Time
}

func (p *indexProgress) report(now indexer.Report) {
	if p.json || time.Since(p.told) < reportEvery {
		return
	}
	p.told = time.Now()
	left := ""
	if now.Left > 0 {
		left = fmt.Sprintf(", %d listed and to be read", now.Left)
	}
	fmt.Fprintf(p.stderr, "final up to slot %d, the chain is at %d; %d transactions and %d events in this run%s\n",
		now.Checkpoint, now.Head, now.Transactions, now.Events, left)
}
