package serve

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

const initHelp = `Creates the tables in the gateway's database and prints the administrator's API key, which is
shown once. If the database has a key already, it fails; with --replace it revokes that key and makes another
one.`

// initView is the new administrator key.
type initView struct {
	Database         string `json:"database"`
	AdministratorKey string `json:"administrator_key"`
}

func newInitCommand(c *serveCommand) *cobra.Command {
	cmd := &cobra.Command{
		Use: "init", Short: "Create the database and the administrator's key", Long: initHelp,
		Example: `  haggle serve init
  haggle serve init --replace --db postgres://haggle@db.example/gateway`,
		Args: command.Exactly(0),
	}
	cmd.Flags().BoolVar(&c.replace, "replace", false, "revoke the administrator's key and make another one")
	command.Documents(cmd, initView{})
	cmd.RunE = c.Limited(func(ctx context.Context, _ []string) error { return failure(c.initialise(ctx)) })
	return cmd
}

func (c *serveCommand) initialise(ctx context.Context) (err error) {
	address, err := c.address()
	if err != nil {
		return err
	}
	database, err := store.Open(ctx, store.Config{Address: address})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	view := initView{Database: database.Name}
	if c.replace {
		key := identity.NewAPIKey()
		if _, err := database.ReplaceAdministratorKeys(ctx, key.Hash()); err != nil {
			return err
		}
		view.AdministratorKey = key.Reveal()
	} else if view.AdministratorKey, err = firstKey(ctx, database); err != nil {
		return err
	}
	if view.AdministratorKey == "" {
		return &exitcode.Error{
			Kind: exitcode.Refused, Err: errors.New("database: has an administrator's key already"),
			Hint: "to revoke it and make another one: haggle serve init --replace",
		}
	}
	return c.Print(view, "database           "+view.Database,
		"administrator key  "+view.AdministratorKey+"  (shown once)")
}
