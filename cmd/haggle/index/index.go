package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/indexer"
	"github.com/haggle-protocol/haggle/sdk/store/database"
)

const indexHelp = `Keeps the program's history in a SQL database: every event, the outcome of every negotiation, and the last
state of every account. The database is a SQLite file, which needs nothing else, or PostgreSQL:

  --db sqlite:haggle.db
  --db postgres://USER@HOST/NAME

Put a password into PGPASSWORD or ~/.pgpass, or the whole address into HAGGLE_INDEX_DB, not on the command
line. docs/INDEXER.md describes tables and views. Start with the views offers, outcomes and totals.`

const (
	indexDatabaseVariable = "HAGGLE_INDEX_DB"
	indexDatabaseDefault  = "sqlite:haggle.db"
)

func Command(s *session.Session) *cobra.Command {
	i := &indexCommand{Session: s}
	group := command.Group("index", "Keep all events and outcomes in a SQL database", indexHelp,
		newIndexRunCommand(i), newIndexStatusCommand(i), newIndexExportCommand(i),
		newIndexDeclareCommand(i))
	group.PersistentFlags().StringVar(&i.address, "db", "",
		"database: sqlite:PATH or postgres://HOST/NAME (default: "+indexDatabaseVariable+", otherwise "+indexDatabaseDefault+")")
	return group
}

// indexCommand holds the state shared by the index commands.
type indexCommand struct {
	*session.Session
	address string
}

func (i *indexCommand) databaseAddress() string { return Address(i.address) }

// Address returns the index's address: by --db, otherwise by the environment variable, otherwise the default.
func Address(flag string) string {
	return cmp.Or(flag, os.Getenv(indexDatabaseVariable), indexDatabaseDefault)
}

// Failure adds exit code and hint to an error of the index.
func Failure(err error) error {
	const first = "haggle index run --once --db ..."
	return exitcode.Match(err, connection.NoDatabase,
		exitcode.Case{Is: indexer.ErrAddress, Kind: exitcode.Usage,
			Hint: "for example: --db sqlite:haggle.db, or --db postgres://USER@HOST/NAME"},
		exitcode.Case{Is: indexer.ErrUnknownNegotiation, Kind: exitcode.NotFound, Hint: "index it first: " + first},
		exitcode.Case{Is: indexer.ErrNotIndexed, Kind: exitcode.NotFound, Hint: "index first: " + first},
		exitcode.Case{Is: indexer.ErrOldSchema, Kind: exitcode.Refused, Hint: "migrate it: " + first},
		exitcode.Case{Is: indexer.ErrOtherSchema, Kind: exitcode.Refused,
			Hint: "delete the database, or set another --db, and index again: haggle index run --db ..."},
		exitcode.Case{Is: database.ErrVersion, Kind: exitcode.Refused, Hint: "set another --db"},
		exitcode.Case{Is: database.ErrReplaced, Kind: exitcode.Other, Hint: "end all processes that use the file, then index again"},
		exitcode.Case{Is: database.ErrHardLinks, Kind: exitcode.Other, Hint: "use a file with one name"},
		exitcode.Case{Is: indexer.ErrAnotherIndexer, Kind: exitcode.Other,
			Hint: "run one indexer per database; the database is consistent"},
		exitcode.Case{Is: indexer.ErrOtherChain, Kind: exitcode.Refused,
			Hint: "set another --url, or another --db for this chain"},
		exitcode.Case{Is: indexer.ErrDeclaration, Kind: exitcode.Refused,
			Hint: "nothing was added: remove it, or have its agent sign it"},
		exitcode.Case{Is: indexer.ErrHistoryGone, Kind: exitcode.Refused,
			Hint: "use an endpoint with a longer history (an archive node): --url"},
	)
}

func newIndexStatusCommand(i *indexCommand) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Show the contents of the database, and its slots",
		Long: `Shows the contents of the database and its slots, without a request to the chain. A violation is a
negotiation whose escrow is not the sum of its parts. There must be none.`,
		Example: "  haggle index status\n  haggle index status --db postgres://haggle@db.example/haggle --json | jq .checkpoint_slot",
	}
	command.Documents(cmd, indexStatusView{})
	cmd.RunE = i.Limited(func(ctx context.Context, _ []string) error {
		database, err := indexer.OpenExisting(ctx, i.databaseAddress())
		if err != nil {
			return Failure(err)
		}
		return Failure(errors.Join(i.printStatus(ctx, database), database.Close()))
	})
	return cmd
}

type indexStatusView struct {
	Database     string    `json:"database"`
	Name         string    `json:"name"`
	Schema       int64     `json:"schema_version"`
	Program      string    `json:"program"`
	GenesisHash  string    `json:"genesis_hash"`
	Commitment   string    `json:"commitment"`
	Checkpoint   uint64    `json:"checkpoint_slot"`
	Head         uint64    `json:"head_slot"`
	Finalized    uint64    `json:"finalized_slot"`
	UpdatedAt    time.Time `json:"updated_at"`
	Backlog      uint64    `json:"backlog"`
	Listing      bool      `json:"listing"`
	Transactions uint64    `json:"transactions"`
	Flawed       uint64    `json:"flawed_transactions"`
	Events       uint64    `json:"events"`
	Rebuilt      uint64    `json:"rebuilt_events"`
	Negotiations uint64    `json:"negotiations"`
	Incomplete   uint64    `json:"incomplete_negotiations"`
	Violations   uint64    `json:"violations"`
}

// printStatus prints the status of a database.
func (i *indexCommand) printStatus(ctx context.Context, database *indexer.Database) error {
	status, err := database.Status(ctx)
	if err != nil {
		return err
	}
	v := indexStatusView{
		string(status.Database), status.Name, status.Schema, status.Program, status.GenesisHash, status.Commitment,
		status.Checkpoint, status.Head, status.Finalized, status.UpdatedAt, status.Backlog, status.Listing,
		status.Transactions, status.Flawed, status.Events, status.Rebuilt, status.Negotiations, status.Incomplete, status.Violations,
	}
	return i.Print(v, v.text())
}

func (v indexStatusView) text() string {
	backlog := ""
	if v.Backlog > 0 || v.Listing {
		backlog = fmt.Sprintf("%d transactions listed and not read yet", v.Backlog)
	}
	return format.Rows{
		{"database", v.Name},
		{"program", v.Program},
		{"chain", "genesis hash " + v.GenesisHash},
		{"final", fmt.Sprintf("up to slot %d", v.Checkpoint)},
		{v.Commitment, fmt.Sprintf("up to slot %d, %s", v.Head, format.When(v.UpdatedAt.Unix(), time.Now().Unix()))},
		{"backlog", backlog},
		{"transactions", counted(v.Transactions, v.Flawed, "with logs that lack events")},
		{"events", counted(v.Events, v.Rebuilt, "rebuilt from instructions")},
		{"negotiations", counted(v.Negotiations, v.Incomplete, "with unknown events")},
		{"violations", counted(v.Violations, v.Violations, "whose amounts do not add up: see the view violations")},
	}.String()
}

// counted formats a number, followed by the number of special cases.
func counted(all, some uint64, which string) string {
	if some == 0 {
		return fmt.Sprint(all)
	}
	return fmt.Sprintf("%d, %d %s", all, some, which)
}
