package doclinks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// documents lists the documents that name tests.
var documents = []string{"docs/SECURITY_MODEL.md", "SECURITY.md", "docs/DEFENCES.md"}

func TestEachTestThatADocumentNamesExists(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	sources := sourcesOf(t, root)
	for _, document := range documents {
		text, err := os.ReadFile(filepath.Join(root, document))
		require.NoError(t, err)
		claims := claimsOf(string(text))
		require.NotEmpty(t, claims, "%s names no test", document)
		for _, claim := range claims {
			if err := claim.check(sources); err != nil {
				t.Errorf("%s: %v", document, err)
			}
		}
	}
}

func TestClaims(t *testing.T) {
	document := "# Title\n| a | `close.rs: anyone_closes`, `tests/x_test.go: TestY` |\n`plain.rs` and `no: name`\n"
	require.Equal(t, []claim{
		{2, "close.rs", "anyone_closes"},
		{2, "tests/x_test.go", "TestY"},
	}, claimsOf(document))
}

func TestAClaimThatNothingShows(t *testing.T) {
	sources := map[string]string{
		"a/close.rs":   "#[test]\nfn anyone_closes() {}\n#[test]\n#[should_panic]\nfn late() {}\nfn anyone() {}",
		"a/enclose.rs": "#[test]\nfn other() {}",
		"b/x_test.go":  "func TestX(t *testing.T) { scenario(t, \"basic_negotiation\") }\nfunc start() {}",
		"b/x.go":       "func TestX() {}",
	}
	for file, names := range map[string][]string{
		"close.rs": {"anyone_closes", "late"}, "a/enclose.rs": {"other"},
		"x_test.go": {"TestX", "basic_negotiation"},
	} {
		for _, name := range names {
			require.NoError(t, claim{1, file, name}.check(sources))
		}
	}
	for _, claim := range []claim{
		{3, "close.rs", "anyone"}, {3, "close.rs", "other"}, {3, "close.rs", "anyone_close"},
		{3, "x_test.go", "start"},
		{3, "x_test.go", "Test"}, {3, "b/x.go", "TestX"},
	} {
		require.EqualError(t, claim.check(sources), "line 3: "+claim.file+" has no test "+claim.test)
	}
	for _, file := range []string{"nowhere.rs", "lose.rs"} {
		require.EqualError(t, claim{4, file, "other"}.check(sources),
			"line 4: there is no file "+file)
	}
}
