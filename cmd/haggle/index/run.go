package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/indexer"
)

const indexRunHelp = `Indexes the history since the last run, and then follows the chain until Ctrl-C. With --once it stops
after the history. It can be stopped or killed at any time: the next run continues there, and no row is
missing or there twice.

With --commitment confirmed (the default) a fork can replace the rows of the last 13 seconds or so. With
finalized it cannot.

With --declarations it also adds the signed declarations in the files of a folder that are named *.json or
*.jsonl: at the start, and every 5 seconds the new and changed ones. Move a file into the folder when it is
complete. A refused file is reported and stops nothing. (haggle index declare --help)`

const (
	defaultIndexRate = 50
	// reportEvery is the interval of progress lines.
	reportEvery = 2 * time.Second
)

func newIndexRunCommand(i *indexCommand) *cobra.Command {
	var once bool
	var declarations string
	poll := duration.Flag(time.Second)
	rate := float64(defaultIndexRate)
	cmd := &cobra.Command{
		Use: "run", Short: "Index the history, then follow the chain", Long: indexRunHelp,
		Example: `  haggle index run --url devnet
  haggle index run --once --db sqlite:/var/lib/haggle.db --commitment finalized
  PGPASSWORD=... haggle index run --db postgres://haggle@db.example/haggle`,
	}
	cmd.Flags().BoolVar(&once, "once", false, "index the history and stop")
	cmd.Flags().Var(&poll, "poll", "pause between two polls of the chain")
	cmd.Flags().Float64Var(&rate, "rate", rate, "maximum requests per second to the endpoint (0: no limit)")
	cmd.Flags().StringVar(&declarations, "declarations", "", "folder with files of signed declarations")
	command.Documents(cmd, indexStatusView{})
	cmd.RunE = i.Unlimited(func(ctx context.Context, _ []string) error {
		if poll <= 0 {
			return exitcode.Usagef("--poll must be positive: 1s")
		}
		if !(rate >= 0) || math.IsInf(rate, 0) {
			return exitcode.Usagef("--rate: %v is not a finite number of at least 0", rate)
		}
		if err := checkFolder(declarations); err != nil {
			return err
		}
		return i.run(ctx, indexer.Config{
			Once: once, Poll: time.Duration(poll), RequestsPerSecond: rate, Declarations: declarations,
		})
	})
	return cmd
}

func checkFolder(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return exitcode.Usagef("--declarations: %w", err)
	}
	if !info.IsDir() {
		return exitcode.Usagef("--declarations: %s is not a folder: haggle index declare %s adds a file", path, path)
	}
	return nil
}

func (i *indexCommand) run(ctx context.Context, config indexer.Config) error {
	settings, err := i.Connection.Settle()
	if err != nil {
		return err
	}
	client, err := i.Client()
	if err != nil {
		return err
	}
	database, err := indexer.Open(ctx, i.databaseAddress())
	if err != nil {
		return Failure(err)
	}
	config.RPC, config.Commitment = client.RPC(), settings.Commitment
	config.Logger = i.Logger(slog.LevelInfo)
	progress := &indexProgress{Session: i.Session}
	config.Report = progress.report
	indexer, err := indexer.New(database, config)
	if err == nil {
		err = indexer.Run(ctx)
	}
	if stopped := ctx.Err(); stopped != nil && !config.Once && !errors.Is(stopped, context.DeadlineExceeded) {
		err = nil // Ctrl-C is the normal end.
	}
	if err == nil {
		// The context may have ended.
		err = i.printStatus(context.WithoutCancel(ctx), database)
	}
	return Failure(errors.Join(err, database.Close()))
}

// indexProgress prints the indexer's progress at intervals.
type indexProgress struct {
	*session.Session
	printed time.Time
}

func (p *indexProgress) report(now indexer.Report) {
	if p.JSON || time.Since(p.printed) < reportEvery {
		return
	}
	p.printed = time.Now()
	left := ""
	if now.Left > 0 {
		left = fmt.Sprintf(", %d listed and not read yet", now.Left)
	}
	fmt.Fprintf(p.Stderr, "final up to slot %d of %d; %d transactions and %d events in this run%s\n",
		now.Checkpoint, now.Head, now.Transactions, now.Events, left)
}
