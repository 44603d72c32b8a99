package bargain_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// eachFile parses all engine files except tests.
func eachFile(t *testing.T, visit func(path string, file *ast.File)) {
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err == nil {
			visit(filepath.ToSlash(path), file)
		}
		return err
	}))
}

// TestImportsNoSolana allows the standard library, the engine itself, a YAML parser for scenarios, goroutine
// groups for tournaments, and for proofs and terms canonical JSON and the text encoding for addresses. Only
// package onchain imports the protocol.
func TestImportsNoSolana(t *testing.T) {
	const engine = "github.com/haggle-protocol/haggle/sdk/bargain"
	eachFile(t, func(path string, file *ast.File) {
		for _, spec := range file.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			switch {
			case !strings.Contains(name, "."), strings.HasPrefix(name, engine):
			case strings.HasPrefix(path, "scenario/") && name == "go.yaml.in/yaml/v3":
			case strings.HasPrefix(path, "terms/") && name == "github.com/gowebpki/jcs":
			case strings.HasPrefix(path, "proof/") &&
				(name == "github.com/gowebpki/jcs" || name == "github.com/gagliardetto/solana-go/base58"):
			case strings.HasPrefix(path, "tournament/") && name == "golang.org/x/sync/errgroup":
			case strings.HasPrefix(path, "onchain/") && name == "github.com/haggle-protocol/haggle/sdk/protocol":
			default:
				t.Errorf("%s imports %s", path, name)
			}
		}
	})
}

// TestImportsNoInputOrOutput allows the packages of the standard library that compute. Those with files, the
// network, a clock, the environment, or other random numbers are not among them, so offers follow from their
// arguments. Readers of documents take an io.Reader, tournaments a context and the number of processors.
func TestImportsNoInputOrOutput(t *testing.T) {
	pure := []string{
		"bytes", "cmp", "container/heap", "crypto/sha256", "encoding/binary", "encoding/hex", "encoding/json",
		"encoding/xml", "errors", "fmt", "iter", "maps", "math", "math/big", "math/bits", "regexp", "slices", "sort",
		"strconv", "strings", "sync", "sync/atomic", "unicode", "unicode/utf8",
	}
	also := map[string][]string{
		"random.go": {"math/rand/v2"}, "scenario/genius_read.go": {"io"}, "proof/verify.go": {"io"}, "strategy/parse.go": {"io"},
		"tournament/run.go": {"context", "runtime"},
	}
	eachFile(t, func(path string, file *ast.File) {
		for _, spec := range file.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			if !strings.Contains(name, ".") && !slices.Contains(pure, name) && !slices.Contains(also[path], name) {
				t.Errorf("%s imports %s", path, name)
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if call, ok := node.(*ast.SelectorExpr); ok && strings.HasPrefix(call.Sel.Name, "Print") {
				if name, ok := call.X.(*ast.Ident); ok && name.Name == "fmt" {
					t.Errorf("%s calls fmt.%s", path, call.Sel.Name)
				}
			}
			return true
		})
	})
}

// forReports is the package producing statistics for people. It can use floats, because no other package
// imports it.
const forReports = "analysis"

// forNegmas lists the files with the floats that determine NegMAS' order at equal utility.
var forNegmas = []string{"inverse_negmas.go", "utility/products.go"}

// TestNoFloats requires that numbers convert to floats only by a single method, for reports, and that no code
// choosing offers reads a report. Floats only break ties, if NegMAS' order is requested.
func TestNoFloats(t *testing.T) {
	eachFile(t, func(path string, file *ast.File) {
		if strings.HasPrefix(path, forReports+"/") {
			return
		}
		for _, spec := range file.Imports {
			if strings.HasSuffix(strings.Trim(spec.Path.Value, `"`), "/sdk/bargain/"+forReports) {
				t.Errorf("%s imports %s", path, spec.Path.Value)
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if function, ok := node.(*ast.FuncDecl); ok && path == "fixed/number.go" && function.Name.Name == "Float" {
				return false
			}
			if slices.Contains(forNegmas, path) {
				return true
			}
			if name, ok := node.(*ast.Ident); ok && (name.Name == "float64" || name.Name == "float32") {
				t.Errorf("%s uses %s", path, name.Name)
			}
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.FLOAT {
				t.Errorf("%s has the literal %s", path, literal.Value)
			}
			return true
		})
	})
}
