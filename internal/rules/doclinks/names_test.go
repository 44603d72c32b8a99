package doclinks

import (
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// goName is a package's exported name, with a field or method, in backquotes.
var goName = regexp.MustCompile("`([a-z]+)\\.([A-Z][A-Za-z0-9]*)(?:\\.([A-Z][A-Za-z0-9]*))?[`(]")

// TestGoNamesInDocumentsExist checks that each SDK name in backquotes exists.
func TestGoNamesInDocumentsExist(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadTypes, Dir: root}, "./sdk/...")
	require.NoError(t, err)
	sdk := map[string][]*types.Package{}
	for _, p := range loaded {
		require.Empty(t, p.Errors, p.ID)
		sdk[p.Name] = append(sdk[p.Name], p.Types)
	}
	listed, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "*.md", "*.txt").Output()
	if err != nil {
		t.Skip("not a checkout: ", err)
	}
	for _, document := range strings.Fields(string(listed)) {
		content, err := os.ReadFile(filepath.Join(root, document))
		require.NoError(t, err)
		for _, name := range goName.FindAllStringSubmatch(string(content), -1) {
			candidates := sdk[name[1]]
			if len(candidates) == 0 {
				continue // another module's
			}
			found := false
			for _, candidate := range candidates {
				found = found || exists(candidate, name[2], name[3])
			}
			assert.True(t, found, "%s: %s", document, name[0])
		}
	}
}

// exists reports whether a package contains a name and, if member is not empty, the name's type contains the
// member.
func exists(p *types.Package, name, member string) bool {
	object := p.Scope().Lookup(name)
	if object == nil || member == "" {
		return object != nil
	}
	found, _, _ := types.LookupFieldOrMethod(object.Type(), true, p, member)
	return found != nil
}
