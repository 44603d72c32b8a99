package store

import (
	"context"
	"database/sql"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// nameKey returns a name in the form in which names are compared: without spaces and differences of case, of
// width and of composition. Neither database has such a comparison. Similar letters of different scripts stay
// different.
func nameKey(name string) string {
	folded := norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name)))
	return strings.Join(strings.Fields(folded), "")
}

// fillNameKeys sets the name_key of clients that an older version of haggle has registered.
func fillNameKeys(ctx context.Context, tx *sql.Tx) error {
	named, err := many(ctx, standard{tx}, scanClient, `SELECT `+clientColumns+` FROM clients WHERE name IS NOT NULL
		ORDER BY id`)
	if err != nil {
		return err
	}
	for _, c := range named {
		_, err := tx.ExecContext(ctx, `UPDATE clients SET name_key = CAST($1 AS TEXT) WHERE id = $2
			AND NOT EXISTS (SELECT 1 FROM clients WHERE name_key = $1)`, nameKey(c.Name), c.ID)
		if err != nil {
			return err
		}
	}
	return nil
}
