package connection

import (
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
)

// NoDatabase matches errors if the PostgreSQL server named by --db accepts no connection.
var NoDatabase = exitcode.Case{
	As: (*pgconn.ConnectError)(nil), Kind: exitcode.Network,
	Hint: "check --db, and whether that server accepts connections",
}
