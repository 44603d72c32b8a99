// Package architecture tests the rules for the Go packages of this repository:
//
//   - Dependencies point one way: cmd, internal, the packages below sdk, sdk, and last sdk/protocol, sdk/amount,
//     sdk/token, sdk/transaction, sdk/events and the packages of sdk/internal. Nothing imports cmd, sdk imports
//     nothing outside of itself, and sdk/transaction, sdk/events and sdk/internal nothing of Haggle. The
//     exception is sdk/internal/preflight, which is a part of sdk/agent. Only sdk and sdk/hire/escrow import
//     sdk/internal/sessionid.
//   - No exported declaration of sdk mentions a type of an internal package.
//   - The root package of sdk and the public packages below it are few, and docs/ARCHITECTURE.md gives the reason
//     for each package.
//   - No hand-written Go file has more than 500 lines.
//   - The examples import only sdk.
//   - internal/audit imports nothing of this module: every product uses it.
//   - Each package of sdk includes a package comment and an example.
//
// Each test keeps a list of exceptions with their reasons. An unneeded exception fails the test.
package architecture

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

const module = "github.com/haggle-protocol/haggle/"

// exceptions maps accepted violations of a rule to the reasons.
type exceptions map[string]string

// check fails the test for each violation that is not listed as an exception, and for each exception that
// matches no violation.
func (e exceptions) check(t *testing.T, violations []string) {
	t.Helper()
	found := map[string]bool{}
	for _, violation := range violations {
		found[violation] = true
		if e[violation] == "" {
			assert.Fail(t, violation)
		}
	}
	for violation := range e {
		assert.True(t, found[violation], "exception no longer needed: %s", violation)
	}
}

// loadAll loads the imports of all packages and tests in the repository.
var loadAll = sync.OnceValues(func() ([]*packages.Package, error) {
	return packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedForTest, Dir: "../../..", Tests: true,
	}, "./...")
})

func load(t *testing.T) []*packages.Package {
	t.Helper()
	loaded, err := loadAll()
	require.NoError(t, err)
	for _, p := range loaded {
		require.Empty(t, p.Errors, p.ID)
	}
	return loaded
}
