package haggle

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostNames bounds the exported top-level names and methods of this package, so one sitting suffices to read
// it. Fields and the methods of interfaces do not count. Lower it when the package shrinks; the aim is 120.
const mostNames = 120

func TestPackageIsSmallEnoughToRead(t *testing.T) {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), entry.Name(), nil, 0)
		require.NoError(t, err)
		for _, declaration := range file.Decls {
			names = append(names, exportedNames(declaration)...)
		}
	}
	require.LessOrEqual(t, len(names), mostNames, "%s", names)
}

// exportedNames returns the exported names in a top-level declaration.
func exportedNames(declaration ast.Decl) (names []string) {
	add := func(prefix string, name *ast.Ident) {
		if name.IsExported() {
			names = append(names, prefix+name.Name)
		}
	}
	switch declaration := declaration.(type) {
	case *ast.FuncDecl:
		if declaration.Recv == nil {
			add("", declaration.Name)
			break
		}
		receiver := declaration.Recv.List[0].Type
		if pointer, ok := receiver.(*ast.StarExpr); ok {
			receiver = pointer.X
		}
		if name, ok := receiver.(*ast.Ident); ok && name.IsExported() {
			add(name.Name+".", declaration.Name)
		}
	case *ast.GenDecl:
		for _, spec := range declaration.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				add("", spec.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					add("", name)
				}
			}
		}
	}
	return names
}
