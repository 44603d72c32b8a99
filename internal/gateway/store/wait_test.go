package store

import (
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// socket is the file name of PostgreSQL's socket.
const socket = ".s.PGSQL.5432"

// A gateway that starts together with PostgreSQL waits for it.
func TestOpenWaitsForPostgreSQL(t *testing.T) {
	folder := t.TempDir()
	address := "postgres://" + "haggle@/postgres?sslmode=disable&host=" + folder
	var once sync.Once
	opened, err := Open(t.Context(), Config{Address: address, Wait: 5 * time.Minute, Waiting: func(reason error) {
		require.NotContains(t, reason.Error(), "password")
		once.Do(func() { forward(t, filepath.Join(folder, socket)) })
	}})
	require.NoError(t, err)
	require.NoError(t, opened.Close())
}

func TestOpenDoesNotWaitForAWrongDatabase(t *testing.T) {
	folder := t.TempDir()
	forward(t, filepath.Join(folder, socket))
	_, err := Open(t.Context(), Config{
		Address: "postgres://haggle@/none?sslmode=disable&host=" + folder, Wait: time.Hour,
		Waiting: func(reason error) { t.Errorf("waits for %v", reason) },
	})
	require.ErrorContains(t, err, `database "none" does not exist`)
}

// forward starts a socket that forwards connections to the tests' PostgreSQL.
func forward(t *testing.T, path string) {
	listener, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("unix", filepath.Join(server.Folder, socket))
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
			go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
		}
	}()
}
