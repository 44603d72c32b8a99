// Package testpostgres starts a PostgreSQL server for tests, with an empty database for each of them.
package testpostgres

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

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Server is a PostgreSQL server on a socket in a temporary folder. It ends with this process.
type Server struct {
	// Folder has the server's data and its socket.
	Folder  string
	command *exec.Cmd
	// lifeline is held open; the server ends when it is closed.
	lifeline io.Closer
	last     atomic.Int64
}

// Superuser is the user in the addresses of databases.
const Superuser = "haggle"

const startLimit = time.Minute

// Run starts a server, runs the tests of a package and stops the server. It returns the exit code for TestMain.
func Run(m *testing.M, server **Server) int {
	started, err := Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	*server = started
	code := m.Run()
	if err := started.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Start starts a server. settings are lines of postgresql.conf; fsync is off unless they set it. It returns
// an error if PostgreSQL is not installed: toolchain/prerequisites installs it.
func Start(ctx context.Context, settings ...string) (*Server, error) {
	initdb, err := Program("initdb")
	if err != nil {
		return nil, err
	}
	server, err := Program("postgres")
	if err != nil {
		return nil, err
	}
	// The path of a socket is short.
	folder, err := os.MkdirTemp("", "haggle-pg")
	if err != nil {
		return nil, err
	}
	s := &Server{Folder: folder}
	owner, err := ownerOf(folder)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	data := filepath.Join(folder, "data")
	made := exec.CommandContext(ctx, initdb, "--pgdata", data, "--username", Superuser, "--auth", "trust",
		"--encoding", "UTF8", "--no-locale", "--no-sync")
	made.SysProcAttr, made.Dir = owner, folder
	if output, err := made.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("initdb: %w\n%s", err, output), s.Close())
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	defer log.Close()
	if err := configure(data, append([]string{"fsync = off"}, settings...)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.command = exec.Command("/bin/sh", "-c", `"$0" "$@" </dev/null & read -r _; kill -INT $!; wait`,
		server, "-D", data, "-k", folder, "-c", "listen_addresses=")
	s.command.SysProcAttr, s.command.Dir, s.command.Stdout, s.command.Stderr = owner, folder, log, log
	if s.lifeline, err = s.command.StdinPipe(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.command.Start(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, s.await(ctx)
}

// configure appends settings to the server's configuration file. The last value of a setting counts.
func configure(data string, settings []string) error {
	file, err := os.OpenFile(filepath.Join(data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(strings.Join(settings, "\n") + "\n")
	return errors.Join(err, file.Close())
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
	credential := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return &syscall.SysProcAttr{Credential: credential}, os.Chown(folder, int(uid), int(gid))
}

// Program returns the path of one of PostgreSQL's programs, such as pgbench. Debian does not have all of them
// on PATH.
func Program(name string) (string, error) {
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

func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		err := s.Execute(ctx, "SELECT 1")
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			log, _ := os.ReadFile(filepath.Join(s.Folder, "log"))
			return errors.Join(fmt.Errorf("PostgreSQL did not start: %w\n%s", err, log), s.Close())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Execute executes a statement in the database that every server has.
func (s *Server) Execute(ctx context.Context, statement string) error {
	connection, err := pgx.Connect(ctx, s.Address("postgres"))
	if err != nil {
		return err
	}
	_, err = connection.Exec(ctx, statement)
	return errors.Join(err, connection.Close(ctx))
}

// Address returns the address of a database on the server. The password is "not-printed": no error may quote it.
func (s *Server) Address(name string) string {
	return fmt.Sprintf("postgres://%s:not-printed@/%s?host=%s&sslmode=disable", Superuser, name, s.Folder)
}

// Create creates an empty database and returns its address.
func (s *Server) Create(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", s.last.Add(1))
	require.NoError(t, s.Execute(t.Context(), "CREATE DATABASE "+name))
	return s.Address(name)
}

// OnBoth runs a test with the address of an empty SQLite file, and of an empty database of the server.
func (s *Server) OnBoth(t *testing.T, test func(t *testing.T, address string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "test.db")) })
	t.Run("postgres", func(t *testing.T) { test(t, s.Create(t)) })
}

// Close stops the server and removes its folder.
func (s *Server) Close() error {
	var err error
	if s.lifeline != nil {
		err = errors.Join(s.lifeline.Close(), s.command.Wait())
	}
	return errors.Join(err, os.RemoveAll(s.Folder))
}
