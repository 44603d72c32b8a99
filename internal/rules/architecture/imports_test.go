package architecture

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// The layers, from lowest to highest. A package imports packages of the same layer or lower layers.
const (
	base  = iota // parts of package haggle: sdk/protocol, sdk/transaction and so on, and sdk/internal
	sdk          // package haggle
	above        // all other packages below sdk
	internal
	command // cmd, tests and examples
)

// preflight is a part of sdk/agent, and uses the client.
const preflight = "sdk/internal/preflight"

// sessionID is the package that returns keys for chosen session ids. Only HIRE/1.0 needs them: every other caller
// names its purchases.
const sessionID = "sdk/internal/sessionid"

func layer(path string) int {
	switch {
	case path == preflight:
		return above
	case path == "sdk":
		return sdk
	case isOfAnyProgram(path), slices.Contains([]string{"sdk/protocol", "sdk/amount", "sdk/token"}, path),
		within(path, "sdk") && isInternal(path):
		return base
	case within(path, "sdk"):
		return above
	case within(path, "internal"):
		return internal
	default:
		return command
	}
}

// within reports whether path is the directory or lies below it.
func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// product returns the directory of the server containing a package, or an empty string.
func product(path string) string {
	for _, folder := range []string{"internal/arena", "internal/gateway", "internal/hire", "internal/indexer"} {
		if within(path, folder) {
			return folder
		}
	}
	return ""
}

func isInternal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

// isOfAnyProgram reports whether a package is about Solana, not about Haggle. These packages contain the
// user-visible parts of sdk/internal/solana, such as errors and results.
func isOfAnyProgram(path string) bool {
	return slices.Contains([]string{"sdk/transaction", "sdk/events"}, path)
}

// violation returns the rule broken by an import, or an empty string. Paths are relative to the module. A
// package's tests can import higher layers of the SDK.
func violation(from, to string, test bool) string {
	binary := strings.Join(strings.Split(from+"/", "/")[:2], "/") // cmd/haggle, for cmd/haggle/wallet
	switch {
	case within(to, "cmd") && !(within(from, "cmd") && within(to, binary)):
		return "nothing imports cmd"
	case within(to, "tests") && !within(from, "tests"):
		return "nothing imports tests"
	case within(from, "examples") && !within(to, "sdk") && to != from:
		return "examples import only sdk"
	case within(from, "sdk") && !within(to, "sdk"):
		return "sdk imports nothing outside of itself"
	case (within(from, "sdk/internal/solana") || from == "sdk/internal/history") && isOfAnyProgram(to):
		return ""
	case isOfAnyProgram(from) && !isOfAnyProgram(to) && !within(to, "sdk/internal") && !test:
		return "sdk/transaction and events import nothing of Haggle"
	case to == sessionID && !slices.Contains([]string{sessionID, "sdk", "sdk/hire/escrow"}, from):
		return "only sdk and sdk/hire/escrow import " + sessionID
	case within(from, "sdk/internal") && from != preflight && !within(to, "sdk/internal"):
		// Not only sdk/internal/solana: it imports other packages of sdk/internal.
		return "sdk/internal imports nothing of Haggle"
	case from == "sdk/protocol" && to != from && to != "sdk/transaction" && !test:
		return "sdk/protocol imports only sdk/transaction of this module"
	case from == "internal/audit" && to != from:
		return "internal/audit imports nothing of this module"
	case within(to, "internal/cli") && layer(from) == internal && !within(from, "internal/cli"):
		return "only commands and internal/cli import internal/cli"
	case product(from) != "" && product(to) != "" && product(from) != product(to):
		return "no product imports another one"
	case layer(to) > layer(from) && !test:
		return "dependencies point one way"
	}
	return ""
}

// importExceptions lists accepted imports, "from imports to: rule", with reasons.
var importExceptions = exceptions{
	"cmd/haggle imports tests/faults/proxy: nothing imports tests":                            "only its tests do, for the lying node of the fault tests",
	"sdk/store imports internal/testpostgres: sdk imports nothing outside of itself":          testServer,
	"sdk/store/postgres imports internal/testpostgres: sdk imports nothing outside of itself": testServer,
}

const testServer = "only tests do, which start the server that the tests of the indexer and of the commands start, too"

func TestDependenciesPointOneWay(t *testing.T) {
	violations := map[string]bool{}
	for _, p := range load(t) {
		for _, imported := range importsOf(p) {
			from, test := strings.TrimPrefix(p.PkgPath, module), p.ForTest != ""
			if test {
				from = strings.TrimSuffix(from, "_test")
			}
			if broken := violation(from, imported, test); broken != "" {
				violations[from+" imports "+imported+": "+broken] = true
			}
		}
	}
	importExceptions.check(t, sorted(violations))
}

// importsOf returns the packages of this module imported by a package.
func importsOf(p *packages.Package) []string {
	// A test binary's main package is generated; it imports the package itself.
	if strings.HasSuffix(p.ID, ".test") {
		return nil
	}
	var paths []string
	for path := range p.Imports {
		if relative, inModule := strings.CutPrefix(path, module); inModule {
			paths = append(paths, relative)
		}
	}
	return paths
}

func sorted(set map[string]bool) []string {
	var list []string
	for text := range set {
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}

// TestViolation checks that each rule finds violations.
func TestViolation(t *testing.T) {
	for _, c := range []struct {
		from, to string
		test     bool
		broken   string
	}{
		{"internal/cli/demo", "cmd/haggle/wallet", false, "nothing imports cmd"},
		{"tests/load", "cmd/buyer", true, "nothing imports cmd"},
		{"cmd/buyer", "cmd/haggle/wallet", false, "nothing imports cmd"},
		{"cmd/haggle", "cmd/haggle/wallet", false, ""},
		{"cmd/haggle/wallet", "cmd/haggle/admin", false, ""},
		{"internal/cli/demo", "tests/load", false, "nothing imports tests"},
		{"internal/audit", "internal/gateway/store", true, "internal/audit imports nothing of this module"},
		{"internal/audit", "internal/audit", true, ""},
		{"examples/list", "internal/cli/mint", false, "examples import only sdk"},
		{"examples/list", "sdk/localnet", false, ""},
		{"sdk/agent", "internal/cli/mint", true, "sdk imports nothing outside of itself"},
		{"sdk", "internal/cli/mint", false, "sdk imports nothing outside of itself"},
		{"sdk/internal/solana/rpcpool", "sdk/protocol", true, "sdk/internal imports nothing of Haggle"},
		{"sdk/internal/wait", "sdk/protocol", false, "sdk/internal imports nothing of Haggle"},
		{"sdk/internal/wait", "sdk", false, "sdk/internal imports nothing of Haggle"},
		{"sdk/internal/wait", "sdk/transaction", false, "sdk/internal imports nothing of Haggle"},
		{"sdk/internal/solana/send", "sdk", true, "sdk/internal imports nothing of Haggle"},
		{"sdk/internal/solana/send", "sdk/transaction", false, ""},
		{"sdk/internal/solana/rpcpool", "sdk/transaction", false, ""},
		{"sdk/transaction", "sdk/protocol", false, "sdk/transaction and events import nothing of Haggle"},
		{"sdk/events", "sdk/protocol", false, "sdk/transaction and events import nothing of Haggle"},
		{"sdk/transaction", "sdk/events", false, ""},
		{"sdk/internal/solana/feed", "sdk/events", false, ""},
		{"sdk/internal/solana/feed", "sdk/internal/history", false, ""},
		{"sdk/internal/history", "sdk/transaction", false, ""},
		{"sdk/internal/history", "sdk", false, "sdk/internal imports nothing of Haggle"},
		{"sdk/hire/escrow", "sdk/internal/sessionid", false, ""},
		{"sdk/agent", "sdk/internal/sessionid", true, "only sdk and sdk/hire/escrow import sdk/internal/sessionid"},
		{"sdk/internal/preflight", "sdk", false, ""},
		{"sdk", "sdk/internal/preflight", false, "dependencies point one way"},
		{"sdk/agent", "sdk/internal/preflight", false, ""},
		{"sdk/internal/wait", "sdk/events", false, "sdk/internal imports nothing of Haggle"},
		{"sdk/internal/solana/rpcpool", "sdk/internal/wait", false, ""},
		{"sdk/protocol", "sdk/internal/solana/rpcpool", false, "sdk/protocol imports only sdk/transaction of this module"},
		{"sdk/protocol", "sdk/transaction", false, ""},
		{"sdk/amount", "sdk", false, "dependencies point one way"},
		{"sdk/yellowstone/internal/geyser", "sdk", false, "dependencies point one way"},
		{"sdk", "sdk/store", false, "dependencies point one way"},
		{"sdk", "sdk/store", true, ""},
		{"sdk", "sdk/protocol", false, ""},
		{"sdk/agent", "sdk", false, ""},
		{"internal/indexer", "internal/cli/result", false, "only commands and internal/cli import internal/cli"},
		{"internal/lab/research", "internal/cli/mint", true, "only commands and internal/cli import internal/cli"},
		{"internal/cli/mcp", "internal/cli/onchain", false, ""},
		{"internal/gateway/rest", "internal/indexer", true, "no product imports another one"},
		{"internal/gateway/rest", "internal/gateway/service", false, ""},
		{"internal/lab/comparison", "internal/indexer/recorded", false, ""},
		{"internal/cli/proving", "internal/indexer/instructions", false, ""},
		{"internal/cli/demo", "sdk/agent", false, ""},
		{"cmd/haggle", "internal/cli/demo", false, ""},
	} {
		require.Equal(t, c.broken, violation(c.from, c.to, c.test), "%s imports %s", c.from, c.to)
	}
}
