// Package gatewayfiles finds the gateway's database and the checkpoint files.
package gatewayfiles

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/statefolder"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// database is the file of the default database.
const database = "gateway.db"

// DatabaseHelp ends the help for a flag that takes the database URL.
const DatabaseHelp = "database: sqlite:PATH or postgres://HOST/NAME (default: " + store.AddressVariable +
	", otherwise a file in the state folder)"

// Files lists the paths of the gateway's files.
type Files struct {
	// Database is the database URL.
	Database string
	// Checkpoints is the file with the checkpoints of the audit log, Key the file of the key that signs them.
	Checkpoints, Key string
}

// Default returns the files in the state directory. The database is at the given URL, or, if not given, the
// URL in the environment.
func Default(given string) (Files, error) {
	if given == "" {
		given = os.Getenv(store.AddressVariable)
	}
	folder, err := statefolder.Path(statefolder.Gateway)
	if err != nil {
		return Files{}, err
	}
	return In(folder, given), nil
}

// In returns the files in a directory. If no database URL is given, the database is a file there. Checkpoints
// are stored next to a SQLite database, because each database has separate checkpoints; for PostgreSQL, they
// are stored in the directory, named by a hash over the database URL, user excluded.
func In(folder, address string) Files {
	if address == "" {
		address = "sqlite:" + filepath.Join(folder, database)
	}
	given := address
	prefix, isFile := strings.CutPrefix(address, "sqlite:")
	if isFile {
		prefix = strings.TrimSuffix(prefix, filepath.Ext(prefix))
	} else {
		if parsed, err := url.Parse(address); err == nil {
			parsed.User = nil
			address = parsed.String()
		}
		hash := sha256.Sum256([]byte(address))
		prefix = filepath.Join(folder, fmt.Sprintf("postgres-%x", hash[:8]))
	}
	return Files{given, prefix + "-checkpoints.jsonl", prefix + "-checkpoints.key"}
}

// Failure adds an exit code and a hint to a gateway database error. Other errors are returned unchanged.
func Failure(err error) error {
	return exitcode.Match(err, connection.NoDatabase,
		exitcode.Case{Is: store.ErrAddress, Kind: exitcode.Usage,
			Hint: "for example: --db sqlite:gateway.db, or --db postgres://USER@HOST/NAME"},
		exitcode.Case{Is: store.ErrNoGateway, Kind: exitcode.NotFound,
			Hint: "set --db or " + store.AddressVariable},
		exitcode.Case{Is: store.ErrOldSchema, Kind: exitcode.Refused},
		exitcode.Case{Is: store.ErrVersion, Kind: exitcode.Refused,
			Hint: "update haggle, or set --db to the database of a gateway"},
	)
}

// Create creates the folder of the files, which only the user may read.
func (f Files) Create() error { return os.MkdirAll(filepath.Dir(f.Key), 0o700) }
