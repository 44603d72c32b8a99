package main

import (
	"cmp"
	"errors"
	"os"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/indexer"
)

const indexHelp = `Keeps everything the program has done in a SQL database: every event, what became of every negotiation, and
the last state of every account. The database is a SQLite file, which needs nothing else, or PostgreSQL:

  --db sqlite:haggle.db
  --db postgres://USER@HOST/NAME

A password is better left to PGPASSWORD or ~/.pgpass than put on a command line, or the whole address into
HAGGLE_INDEX_DB. Tables and views are described in docs/INDEXER.md; begin with the views offers, outcomes and
totals.`

const (
	indexDatabaseVariable = "HAGGLE_INDEX_DB"
	indexDatabaseDefault  = "sqlite:haggle.db"
)

func newIndexerCommand(s *session) *cobra.Command {
	i := &indexCommand{session: s}
	group := newGroupCommand("index", "Keep all events and outcomes in a SQL database", indexHelp,
		newIndexRunCommand(i), newIndexStatusCommand(i), newIndexExportCommand(i))
	group.PersistentFlags().StringVar(&i.address, "db", "",
		"database: sqlite:PATH or postgres://HOST/NAME (default: "+indexDatabaseVariable+", otherwise "+indexDatabaseDefault+")")
	return group
}

// indexCommand is what the commands on the index share.
type indexCommand struct {
	*session
	address string
}

func (i *indexCommand) where() string {
	return cmp.Or(i.address, os.Getenv(indexDatabaseVariable), indexDatabaseDefault)
}

// indexFailure says what to do about what an index can fail with.
func indexFailure(err error) error {
	switch {
	case errors.As(err, new(*pgconn.ConnectError)):
		return &exitcode.Error{Kind: exitcode.Network, Err: err, Hint: "check --db, and whether that server takes connections"}
	case errors.Is(err, indexer.ErrAddress):
		return &exitcode.Error{Kind: exitcode.Usage, Err: err, Hint: "for example: --db sqlite:haggle.db, or --db postgres://USER@HOST/NAME"}
	case errors.Is(err, indexer.ErrNotIndexed):
		return &exitcode.Error{Kind: exitcode.NotFound, Err: err, Hint: "index first: haggle index run --once --db ..."}
	case errors.Is(err, indexer.ErrOldSchema):
		return &exitcode.Error{Kind: exitcode.Refused, Err: err, Hint: "bring it up to date: haggle index run --once --db ..."}
	case errors.Is(err, indexer.ErrOtherSchema):
		return &exitcode.Error{Kind: exitcode.Refused, Err: err, Hint: "delete the database, or set another --db, and index again: haggle index run --db ..."}
	case errors.Is(err, indexer.ErrAnotherIndexer):
		return &exitcode.Error{Kind: exitcode.Other, Err: err, Hint: "one indexer per database is enough; everything that it wrote is in order"}
	case errors.Is(err, indexer.ErrOtherChain):
		return &exitcode.Error{Kind: exitcode.Refused, Err: err, Hint: "another --url, or another --db for this chain"}
	case errors.Is(err, indexer.ErrHistoryGone):
		return &exitcode.Error{Kind: exitcode.Refused, Err: err, Hint: "use an endpoint with a longer history (an archive node): --url"}
	}
	return err
}
