package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheGeneratedFilesAreThoseOfTheStatements(t *testing.T) {
	to := t.TempDir()
	require.NoError(t, generate("..", to))
	want, err := filepath.Glob(filepath.Join(to, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, want)
	kept, err := filepath.Glob(filepath.Join("..", "*.sql.go"))
	require.NoError(t, err)
	for _, file := range kept {
		require.FileExists(t, filepath.Join(to, filepath.Base(file)), "delete %s: its statements are gone", file)
	}
	for _, file := range want {
		generated, err := os.ReadFile(file)
		require.NoError(t, err)
		committed, err := os.ReadFile(filepath.Join("..", filepath.Base(file)))
		require.NoError(t, err)
		require.Equal(t, string(generated), string(committed),
			"%s is not up to date: run `go generate ./internal/gateway/store/queries` and commit the result", file)
	}
}
