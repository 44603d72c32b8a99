package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bounds of the SDK's public names. Lower them when the SDK shrinks.
const (
	// maxRootNames bounds the types and functions of package haggle. Methods, variables and constants do not count.
	maxRootNames = 45
	// maxRooms bounds the public packages directly below sdk.
	maxRooms = 21
)

func TestRootPackageHasFewTypesAndFunctions(t *testing.T) {
	names, err := typesAndFunctions("../../../sdk")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	require.LessOrEqual(t, len(names), maxRootNames, "%s", names)
}

// typesAndFunctions returns the exported types and functions of the package in a directory.
func typesAndFunctions(directory string) (names []string, err error) {
	paths, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return nil, err
		}
		for _, declaration := range file.Decls {
			switch declaration := declaration.(type) {
			case *ast.FuncDecl:
				if declaration.Recv == nil && declaration.Name.IsExported() {
					names = append(names, declaration.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range declaration.Specs {
					if named, ok := spec.(*ast.TypeSpec); ok && named.Name.IsExported() {
						names = append(names, named.Name.Name)
					}
				}
			}
		}
	}
	return names, nil
}

// TestTypesAndFunctions shows that the count includes grouped types and aliases, and neither methods nor tests.
func TestTypesAndFunctions(t *testing.T) {
	directory := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(directory, "a.go"), []byte(`package a

type Struct struct{}
type (
	Alias   = Struct
	private struct{}
)

var ErrVariable error

func Function()         {}
func helper()           {}
func (Struct) Method()  {}
`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(directory, "a_test.go"), []byte("package a\n\nfunc TestA() {}\n"), 0o600))
	names, err := typesAndFunctions(directory)
	require.NoError(t, err)
	require.Equal(t, []string{"Struct", "Alias", "Function"}, names)
}

// TestPublicPackagesOfTheSDKHaveReasons shows that docs/ARCHITECTURE.md gives a reason for each public package
// directly below sdk, and that there are few.
func TestPublicPackagesOfTheSDKHaveReasons(t *testing.T) {
	files, err := filepath.Glob("../../../sdk/*/*.go")
	require.NoError(t, err)
	var rooms []string
	for _, file := range files {
		rooms = append(rooms, filepath.Base(filepath.Dir(file)))
	}
	rooms = slices.Compact(rooms)
	require.LessOrEqual(t, len(rooms), maxRooms, "%s", rooms)
	document, err := os.ReadFile("../../../docs/ARCHITECTURE.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(document), "\n### Public packages\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n#")
	var explained []string
	for _, row := range regexp.MustCompile(`(?m)^\| \[sdk/([a-z]+)\]\(\.\./sdk/[a-z]+\) \| .+ \|$`).FindAllStringSubmatch(section, -1) {
		explained = append(explained, row[1])
	}
	require.Equal(t, rooms, explained)
}
