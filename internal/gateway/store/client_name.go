package store

import (
	"context"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// nameKey returns a name in the form in which names are compared: without spaces and differences of case, of
// width and of composition. Neither database has such a comparison. Similar letters of different scripts stay
// different.
func nameKey(name string) string {
	folded := norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name)))
	return strings.Join(strings.Fields(folded), "")
}

// fillNameKeys sets the name_key of clients that an older version of haggle has registered.
func fillNameKeys(ctx context.Context, run *queries.Queries) error {
	all, err := run.NamedClients(ctx)
	if err != nil {
		return err
	}
	for _, c := range all {
		if err := run.SetNameKey(ctx, nameKey(c.Name), c.ID); err != nil {
			return err
		}
	}
	return nil
}
