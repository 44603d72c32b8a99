package serve

import (
	"context"
	"errors"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// keyView is the output of --new-key.
type keyView struct {
	Database         string `json:"database"`
	AdministratorKey string `json:"administrator_key"`
}

// newKey replaces the administrator's key and prints the new key. If there is no database, it creates the
// database.
func (c *serveCommand) newKey(ctx context.Context) (err error) {
	files, _, err := c.files()
	if err != nil {
		return err
	}
	database, err := store.Open(ctx, store.Config{Address: files.Database})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	key := identity.NewAPIKey()
	if _, err := database.ReplaceAdministratorKeys(ctx, key.Hash()); err != nil {
		return err
	}
	view := keyView{database.Name, key.Reveal()}
	return c.Print(view, "database           "+view.Database,
		"administrator key  "+view.AdministratorKey+"  (shown once)")
}

// firstKey adds the administrator's key to a new database and returns the key as text. If the database is not
// new, it returns "".
func firstKey(ctx context.Context, database *store.Store) (string, error) {
	key := identity.NewAPIKey()
	_, err := database.FirstAdministratorKey(ctx, key.Hash())
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return key.Reveal(), err
}
