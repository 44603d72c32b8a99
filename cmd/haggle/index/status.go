package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/indexer"
)

func newIndexStatusCommand(i *indexCommand) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Show the contents of the database, and up to which slot",
		Long: `Shows the contents of the database and up to which slot, without a request to the chain. A violation is a
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

// counted returns a number and the number of its special cases.
func counted(all, some uint64, which string) string {
	if some == 0 {
		return fmt.Sprint(all)
	}
	return fmt.Sprintf("%d, %d %s", all, some, which)
}
