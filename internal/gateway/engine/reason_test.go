package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEachReasonHasACode compares the constants of the source with the table.
func TestEachReasonHasACode(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	require.NoError(t, err)
	seen, count := map[ReasonCode]bool{}, 0
	ast.Inspect(file, func(n ast.Node) bool {
		value, is := n.(*ast.ValueSpec)
		if !is || !strings.HasPrefix(value.Names[0].Name, "Reason") {
			return true
		}
		literal, is := value.Values[0].(*ast.BasicLit)
		require.True(t, is)
		reason, err := strconv.Unquote(literal.Value)
		require.NoError(t, err)
		if strings.HasSuffix(reason, " ") {
			reason += "price"
		}
		found := CodesOf(reason)
		require.Len(t, found, 1, reason)
		require.False(t, seen[found[0]], reason)
		seen[found[0]] = true
		count++
		return true
	})
	require.Len(t, ReasonCodes(), count)
	document, err := os.ReadFile("../../../docs/GATEWAY.md")
	require.NoError(t, err)
	for _, code := range ReasonCodes() {
		require.Contains(t, string(document), "`"+string(code)+"`")
	}
	require.Greater(t, count, 10)
}

func TestCounterOffersHaveSeveralCodes(t *testing.T) {
	require.Equal(t, []ReasonCode{CodePurposes, CodeTTL, CodePrice},
		CodesOf(strings.Join([]string{ReasonPurposes, ReasonTTL, ReasonPrice}, "; ")))
	require.Equal(t, []ReasonCode{CodeBundleApproval}, CodesOf(ReasonBundleApproval), "its semicolon joins nothing")
	require.Empty(t, CodesOf("You are too cheap."))
	require.Empty(t, CodesOf(""))
}
