package doclinks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLinksOfDocuments checks that each linked file and each named make target exists.
func TestLinksOfDocuments(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	listed, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "*.md", "*.txt").Output()
	if err != nil {
		t.Skip("not a checkout: ", err)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	documents := strings.Fields(string(listed))
	require.Contains(t, documents, "README.md")
	for _, document := range documents {
		content, err := os.ReadFile(filepath.Join(root, document))
		require.NoError(t, err)
		for _, target := range linksOf(string(content)) {
			_, err := os.Stat(filepath.Join(root, filepath.Dir(document), target))
			assert.NoError(t, err, document)
		}
		for _, target := range targetsOf(string(content)) {
			assert.Contains(t, string(makefile), "\n"+target+":", "%s: make %s", document, target)
		}
	}
}

func TestLinks(t *testing.T) {
	document := "[a](b.md#c) [d](https://e.org/f) [g](#h) ![i](j/k.svg) `make test-go X=1` make no, `make lint`"
	require.Equal(t, []string{"b.md", "j/k.svg"}, linksOf(document))
	require.Equal(t, []string{"test-go", "lint"}, targetsOf(document))
}

// TestGoVersionOfTheBadge checks that the README and go.mod name the same version.
func TestGoVersionOfTheBadge(t *testing.T) {
	module, err := os.ReadFile(filepath.Join("..", "..", "..", "go.mod"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(module), "\ngo ")
	require.True(t, found)
	version := strings.Join(strings.Split(strings.Fields(rest)[0], ".")[:2], ".")
	readme, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	require.NoError(t, err)
	require.Contains(t, string(readme), "badge/Go-"+version+"-")
	require.Contains(t, string(readme), "[![Go "+version+"]")
}
