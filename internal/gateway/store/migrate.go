package store

import (
	"context"
	"database/sql"

	"github.com/pressly/goose/v3"

	"github.com/haggle-protocol/haggle/internal/gateway/store/schema"
	sdkdb "github.com/haggle-protocol/haggle/sdk/store/database"
)

// tables describes the gateway's tables to the packages that open databases.
var tables = sdkdb.Schema{
	Kind: "gateway", VersionTable: "gateway_schema_version", GoMigrations: migrations, Readers: 4,
	Unchecked: true,
}

// fills compute values for existing rows after the migration with a given number.
var fills = map[int64]func(context.Context, *sql.Tx) error{10: fillNames}

func migrations(postgres bool) (all []*goose.Migration, err error) {
	sources, err := schema.Migrations(postgres)
	if err != nil {
		return nil, err
	}
	for _, m := range sources {
		all = append(all, goose.NewGoMigration(m.Version, &goose.GoFunc{
			RunTx: func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, m.SQL)
				if fill := fills[m.Version]; err == nil && fill != nil {
					err = fill(ctx, tx)
				}
				return err
			},
		}, nil))
	}
	return all, nil
}
