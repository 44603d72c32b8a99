// Package audit has the command "haggle audit".
package audit

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/gatewayfiles"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

const groupHelp = `The gateway records every step of a negotiation as an entry of the audit log, in its
database. Each entry has the hash of the entry before it, and signed checkpoints in a file outside of the
database have the newest hash of every negotiation. So a later change of an entry that a checkpoint covers is
found.

Put the database's password into PGPASSWORD or ~/.pgpass, or the whole address into DATABASE_URL, not on the
command line.`

// Command returns "haggle audit".
func Command(s *session.Session) *cobra.Command {
	a := &auditCommand{Session: s}
	group := command.Group("audit", "Verify and export the gateway's audit log", groupHelp,
		newVerifyCommand(a), newExportCommand(a))
	group.PersistentFlags().StringVar(&a.address, "db", "", gatewayfiles.DatabaseHelp)
	return group
}

// auditCommand holds the state shared by the audit commands.
type auditCommand struct {
	*session.Session
	address string
}

// open runs act with the gateway's database. It neither creates nor migrates the database.
func (a *auditCommand) open(ctx context.Context, act func(*store.Store) error) error {
	files, err := gatewayfiles.Default(a.address)
	if err != nil {
		return err
	}
	s, err := store.OpenExisting(ctx, store.Config{Address: files.Database})
	if err != nil {
		return failure(err)
	}
	return failure(errors.Join(act(s), s.Close()))
}

// failure adds exit code and hint to an error of the store.
func failure(err error) error {
	return exitcode.Match(gatewayfiles.Failure(err),
		exitcode.Case{Is: store.ErrNotFound, Kind: exitcode.NotFound, Hint: "list all with: haggle audit export"})
}
