// Package databases opens a product's database by URL or path.
package databases

import (
	"context"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/store/database"
	"github.com/haggle-protocol/haggle/sdk/store/postgres"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// IsPostgres reports whether address names a PostgreSQL server. All other addresses are SQLite file paths.
func IsPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// Open opens a database, and creates or migrates the tables. address is either a postgres:// URL or a SQLite
// file path. Package sdk/store/database defines the errors.
func Open(ctx context.Context, address string, tables database.Schema) (*database.Database, error) {
	if IsPostgres(address) {
		return postgres.OpenDatabase(ctx, address, tables)
	}
	return sqlite.OpenFile(ctx, address, tables)
}
