package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQueryFunctionsAreUpToDate(t *testing.T) {
	to := t.TempDir()
	require.NoError(t, generate("..", to))
	for _, directory := range []string{".", "sqlite"} {
		want, err := filepath.Glob(filepath.Join(to, directory, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, want)
		kept, err := filepath.Glob(filepath.Join("..", directory, "*.sql.go"))
		require.NoError(t, err)
		for _, file := range kept {
			require.FileExists(t, filepath.Join(to, directory, filepath.Base(file)),
				"delete %s: its statements are gone", file)
		}
		for _, file := range want {
			generated, err := os.ReadFile(file)
			require.NoError(t, err)
			committed, err := os.ReadFile(filepath.Join("..", directory, filepath.Base(file)))
			require.NoError(t, err)
			require.Equal(t, string(generated), string(committed),
				"%s is not up to date: run `go generate ./internal/gateway/store/queries` and commit the result", file)
		}
	}
}

// sqlc names parameters after columns and statements after functions. A parameter named like the statement
// would be executed instead.
func TestNoParameterHidesItsStatement(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "*.sql.go"))
	require.NoError(t, err)
	inSQLite, err := filepath.Glob(filepath.Join("..", "sqlite", "*.sql.go"))
	require.NoError(t, err)
	require.Len(t, inSQLite, len(files))
	for _, file := range append(files, inSQLite...) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, declared := range parsed.Decls {
			function, is := declared.(*ast.FuncDecl)
			if !is {
				continue
			}
			for _, parameter := range function.Type.Params.List {
				for _, name := range parameter.Names {
					require.NotEqual(t, strings.ToLower(function.Name.Name), strings.ToLower(name.Name),
						"%s: rename the statement %s", file, function.Name)
				}
			}
		}
	}
}
