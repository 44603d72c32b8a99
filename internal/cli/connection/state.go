package connection

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/statefolder"
	"github.com/haggle-protocol/haggle/internal/databases"
	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/store/postgres"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// keepEntries is how long the default state database keeps finished transactions. Later on, the chain still
// shows which sessions have been used.
const keepEntries = 90 * 24 * time.Hour

// lazyState opens the database on first use: most commands need none.
type lazyState struct {
	lock   sync.Mutex
	opened *store.Store
}

// State opens the database of --state. It returns the same database each time.
func (f *Flags) State(ctx context.Context) (*store.Store, error) {
	f.state.lock.Lock()
	defer f.state.lock.Unlock()
	if f.state.opened != nil {
		return f.state.opened, nil
	}
	path, byDefault := f.StatePath, f.StatePath == ""
	if byDefault {
		var err error
		if path, err = f.defaultState(ctx); err != nil {
			return nil, err
		}
	}
	open := sqlite.Open
	if databases.IsPostgres(path) {
		open = postgres.Open
	}
	opened, err := open(ctx, path)
	if err != nil {
		return nil, stateError(ctx, err)
	}
	if byDefault {
		// The next command repeats a removal that fails.
		_, _ = opened.ForgetEntries(ctx, time.Now().Add(-keepEntries))
	}
	f.state.opened = opened
	return opened, nil
}

// defaultState returns the path of the cluster's database in an existing directory. Transactions on a given
// cluster have no outcome on another.
func (f *Flags) defaultState(ctx context.Context) (string, error) {
	client, err := f.Client()
	if err != nil {
		return "", err
	}
	genesis, err := client.RPC().GetGenesisHash(ctx)
	if err != nil {
		return "", err
	}
	directory, err := statefolder.Path(statefolder.State)
	if err == nil {
		err = os.MkdirAll(directory, 0o700)
	}
	if err != nil {
		return "", &exitcode.Error{
			Kind: exitcode.Other, Err: fmt.Errorf("no directory for the state database: %w", err),
			Hint: "name a file with --state FILE",
		}
	}
	return filepath.Join(directory, "haggle-"+hex.EncodeToString(genesis[:8])+".db"), nil
}

// stateError adds the flag and a hint to a database error.
func stateError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	err = exitcode.Match(fmt.Errorf("--state: %w", err),
		exitcode.Case{Is: store.ErrDamaged, Kind: exitcode.Other,
			Hint: "restore the file: it may record transactions in flight; or use a new one: --state FILE"},
		exitcode.Case{Is: store.ErrReplaced, Kind: exitcode.Other,
			Hint: "end all processes that use the file, then restore it with its -wal file"},
		exitcode.Case{Is: store.ErrHardLinks, Kind: exitcode.Other, Hint: "use a file with one name"},
		exitcode.Case{Is: store.ErrVersion, Kind: exitcode.Other, Hint: "update haggle, or use a new file: --state FILE"},
		exitcode.Case{Is: store.ErrAddress, Kind: exitcode.Usage},
		exitcode.Case{Is: os.ErrNotExist, Kind: exitcode.Other, Hint: "create the directory, or name another file with --state"},
	)
	return exitcode.WithHint(err, "check the database, or name another one with --state")
}

func (l *lazyState) close() (err error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.opened != nil {
		err = l.opened.Close()
	}
	l.opened = nil
	return err
}
