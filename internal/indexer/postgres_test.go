package indexer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"
)

// cluster is a PostgreSQL server for the tests, on a socket in a temporary folder. It ends with this
// process.
type cluster struct {
	folder  string
	command *exec.Cmd
	// lifeline is held open; the server ends when it is closed.
	lifeline io.Closer
	last     atomic.Int64
}

const (
	clusterLimit = time.Minute
	// superuser is the cluster's.
	superuser = "haggle"
)

// startCluster starts a server. It returns an error without the programs of PostgreSQL:
// toolchain/prerequisites installs them.
func startCluster(ctx context.Context) (*cluster, error) {
	initdb, err := postgresProgram("initdb")
	if err != nil {
		return nil, err
	}
	server, err := postgresProgram("postgres")
	if err != nil {
		return nil, err
	}
	// The path of a socket is short.
	folder, err := os.MkdirTemp("", "haggle-pg")
	if err != nil {
		return nil, err
	}
	c := &cluster{folder: folder}
	owner, err := ownerOf(folder)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	data := filepath.Join(folder, "data")
	made := exec.CommandContext(ctx, initdb, "--pgdata", data, "--username", superuser, "--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync")
	made.SysProcAttr, made.Dir = owner, folder
	if output, err := made.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("initdb: %w\n%s", err, output), c.close())
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	defer log.Close()
	c.command = exec.Command("/bin/sh", "-c", `"$0" "$@" </dev/null & read -r _; kill -INT $!; wait`,
		server, "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off")
	c.command.SysProcAttr, c.command.Dir, c.command.Stdout, c.command.Stderr = owner, folder, log, log
	if c.lifeline, err = c.command.StdinPipe(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err := c.command.Start(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, c.await(ctx)
}

// ownerOf gives the folder to a user that may run the server; root may not.
func ownerOf(folder string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	someone, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(someone.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(someone.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, os.Chown(folder, int(uid), int(gid))
}

// postgresProgram returns the path of one of PostgreSQL's programs, which Debian does not have on PATH.
func postgresProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fmt.Errorf("PostgreSQL's %s not found: run toolchain/prerequisites, or install PostgreSQL 15 or later", name)
	}
	return slices.Max(found), nil
}

func (c *cluster) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clusterLimit)
	defer cancel()
	for {
		database, err := connect(c.address("postgres"), false)
		if err == nil {
			err = errors.Join(database.statements().row(ctx, `SELECT 1`).Scan(new(int)), database.Close())
		}
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			log, _ := os.ReadFile(filepath.Join(c.folder, "log"))
			return errors.Join(fmt.Errorf("PostgreSQL did not start: %w\n%s", err, log), c.close())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (c *cluster) address(name string) string {
	return fmt.Sprintf("postgres://%s:not-printed@/%s?host=%s&sslmode=disable", superuser, name, c.folder)
}

func (c *cluster) close() error {
	var err error
	if c.lifeline != nil {
		err = errors.Join(c.lifeline.Close(), c.command.Wait())
	}
	return errors.Join(err, os.RemoveAll(c.folder))
}

// create creates an empty database and returns its address.
func (c *cluster) create(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("index_%d", c.last.Add(1))
	admin, err := connect(c.address("postgres"), false)
	require.NoError(t, err)
	_, err = admin.statements().exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	require.NoError(t, admin.Close())
	return c.address(name)
}

// SQLite and PostgreSQL hold the same data, views and exports included.
func TestBothDatabasesHoldTheSame(t *testing.T) {
	s := newScenario(t)
	s.all()
	file, server := newSQLite(t), openAt(t, server.create(t))
	runOnce(t, s.ctx, file, s.Client.RPC(), rpc.CommitmentConfirmed)
	runOnce(t, s.ctx, server, s.Client.RPC(), rpc.CommitmentConfirmed)
	held := contents(t, s.ctx, file)
	require.Contains(t, held, "NegotiationSettled")
	require.Equal(t, held, contents(t, s.ctx, server))
	// Further runs change nothing else.
	s.bargain(9)
	for _, database := range []*Database{file, server} {
		runOnce(t, s.ctx, database, s.Client.RPC(), rpc.CommitmentConfirmed)
		runOnce(t, s.ctx, database, s.Client.RPC(), rpc.CommitmentConfirmed)
	}
	again := contents(t, s.ctx, file)
	require.NotEqual(t, held, again)
	require.Equal(t, again, contents(t, s.ctx, server))
}

// Errors and the status contain no password.
func TestNoErrorQuotesAPassword(t *testing.T) {
	address := server.create(t)
	require.Contains(t, address, "not-printed")
	database := openAt(t, address)
	require.NotContains(t, database.Name, "not-printed")
	for _, wrong := range []string{
		strings.Replace(address, "index_", "missing_", 1),
		strings.Replace(address, server.folder, "/nowhere", 1),
		"postgres://me:not-printed@host:port/name",
		"postgres://me:not-printed@127.0.0.1:1/name?sslmode=disable",
		"postgres://127.0.0.1:1/name?user=me&password=not-printed&sslmode=what",
		"postgresql://me:not-printed@%zz/name",
		"mysql://me:not-printed@host/name",
		"me:not-printed",
	} {
		_, err := Open(t.Context(), wrong)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "not-printed")
		_, err = OpenExisting(t.Context(), wrong)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "not-printed")
	}
}

// Several indexers can start at once on an empty database.
func TestTablesAreCreatedOnce(t *testing.T) {
	for name, address := range map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "x.db"), "postgres": server.create(t)} {
		t.Run(name, func(t *testing.T) {
			outcomes := make(chan error, 4)
			for range cap(outcomes) {
				go func() {
					database, err := Open(context.Background(), address)
					if err == nil {
						err = database.Close()
					}
					outcomes <- err
				}()
			}
			for range cap(outcomes) {
				require.NoError(t, <-outcomes)
			}
		})
	}
}
