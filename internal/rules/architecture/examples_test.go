package architecture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// exampleExceptions lists packages accepted although they lack an example, with reasons.
var exampleExceptions = func() exceptions {
	accepted := exceptions{}
	for _, name := range []string{
		"acceptance", "bidding", "curve", "fixed", "mechanism", "onchain", "opponent", "scenario", "strategy",
		"utility",
	} {
		accepted[module+"sdk/bargain/"+name+" has no example"] = "package bargain has the example"
	}
	return accepted
}()

// TestPublicPackagesHaveDocumentationAndAnExample checks that pkg.go.dev can show something about each
// package of the SDK.
func TestPublicPackagesHaveDocumentationAndAnExample(t *testing.T) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax, Dir: "../../..",
	}, "./sdk/...")
	require.NoError(t, err)
	require.NotEmpty(t, loaded)
	var violations []string
	for _, p := range loaded {
		if isInternal(p.PkgPath) {
			continue
		}
		documented := false
		for _, file := range p.Syntax {
			documented = documented || file.Doc != nil
		}
		assert.True(t, documented, "%s has no package comment", p.PkgPath)
		tests, err := filepath.Glob(filepath.Join(filepath.Dir(p.GoFiles[0]), "*_test.go"))
		require.NoError(t, err)
		example := false
		for _, path := range tests {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			example = example || strings.Contains(string(content), "\nfunc Example")
		}
		if !example {
			violations = append(violations, p.PkgPath+" has no example")
		}
	}
	exampleExceptions.check(t, violations)
}
