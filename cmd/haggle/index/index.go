package index

import (
	"cmp"
	"errors"
	"os"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/indexer"
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

// indexCommand is the shared state of the index commands.
type indexCommand struct {
	*session.Session
	address string
}

func (i *indexCommand) databaseAddress() string { return Address(i.address) }

// Address returns the address of the index: that of --db, otherwise the variable's, otherwise the default.
func Address(flag string) string {
	return cmp.Or(flag, os.Getenv(indexDatabaseVariable), indexDatabaseDefault)
}

// Failure adds exit code and hint to an error of the index.
func Failure(err error) error {
	switch {
	case errors.As(err, new(*pgconn.ConnectError)):
		return &exitcode.Error{Kind: exitcode.Network, Err: err, Hint: "check --db, and whether that server accepts connections"}
	case errors.Is(err, indexer.ErrAddress):
		return &exitcode.Error{Kind: exitcode.Usage, Err: err, Hint: "for example: --db sqlite:haggle.db, or --db postgres://USER@HOST/NAME"}
	case errors.Is(err, indexer.ErrUnknownNegotiation):
		return &exitcode.Error{Kind: exitcode.NotFound, Err: err, Hint: "index it first: haggle index run --once --db ..."}
	case errors.Is(err, indexer.ErrNotIndexed):
		return &exitcode.Error{Kind: exitcode.NotFound, Err: err, Hint: "index first: haggle index run --once --db ..."}
	case errors.Is(err, indexer.ErrOldSchema):
		return &exitcode.Error{Kind: exitcode.Refused, Err: err, Hint: "migrate it: haggle index run --once --db ..."}
	case errors.Is(err, indexer.ErrOtherSchema):
		return &exitcode.Error{Kind: exitcode.Refused, Err: err, Hint: "delete the database, or set another --db, and index again: haggle index run --db ..."}
	case errors.Is(err, indexer.ErrAnotherIndexer):
		return &exitcode.Error{Kind: exitcode.Other, Err: err, Hint: "run one indexer per database; the database is consistent"}
	case errors.Is(err, indexer.ErrOtherChain):
		return &exitcode.Error{Kind: exitcode.Refused, Err: err, Hint: "set another --url, or another --db for this chain"}
	case errors.Is(err, indexer.ErrDeclaration):
		return &exitcode.Error{Kind: exitcode.Refused, Err: err, Hint: "nothing was added: remove it, or have its agent sign it"}
	case errors.Is(err, indexer.ErrHistoryGone):
		return &exitcode.Error{Kind: exitcode.Refused, Err: err, Hint: "use an endpoint with a longer history (an archive node): --url"}
	}
	return err
}
