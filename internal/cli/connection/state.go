package connection

import (
	"context"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/store/postgres"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// openState opens a state database: a file, or an address of PostgreSQL.
func openState(ctx context.Context, address string) (*store.Store, error) {
	if isPostgres(address) {
		return postgres.Open(ctx, address)
	}
	return sqlite.Open(ctx, address)
}

// stateError adds the flag and a hint to the error of a state database.
func stateError(flag string, err error) error {
	return exitcode.Match(fmt.Errorf("%s: %w", flag, err),
		exitcode.Case{Is: store.ErrDamaged, Kind: exitcode.Other,
			Hint: "restore the file: nothing is signed without a valid state database"},
		exitcode.Case{Is: store.ErrReplaced, Kind: exitcode.Other,
			Hint: "end all processes that use the file, then restore it with its -wal file"},
		exitcode.Case{Is: store.ErrHardLinks, Kind: exitcode.Other, Hint: "use a file with one name"},
		exitcode.Case{Is: store.ErrVersion, Kind: exitcode.Other, Hint: "update haggle, or name another file"},
		exitcode.Case{Is: store.ErrAddress, Kind: exitcode.Usage},
	)
}
