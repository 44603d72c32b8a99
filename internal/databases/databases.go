// Package databases opens the database of a product by its address.
package databases

import (
	"context"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/store/database"
	"github.com/haggle-protocol/haggle/sdk/store/postgres"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// IsPostgres reports whether an address is of PostgreSQL. All other addresses are paths of SQLite files.
func IsPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// Open opens a database, and creates or migrates its tables. The address is a postgres:// URL or a path of a SQLite
// file. The errors are those of sdk/store/database.
func Open(ctx context.Context, address string, tables database.Schema) (*database.Database, error) {
	if IsPostgres(address) {
		return postgres.OpenDatabase(ctx, address, tables)
	}
	return sqlite.OpenFile(ctx, address, tables)
}
