// Package doclinks checks that the tests, files and make targets named in documents exist.
//
// A document names a test as `path: name`. path is a suffix of the file's path in the repository. name is a
// Rust or Go test function, a Go fuzz test, or a scenario of tests/scenarios.
package doclinks

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// claim is a link from a document to a test.
type claim struct {
	// line is the document's line, from 1.
	line int
	// file is a suffix of the test file's path.
	file string
	// test is the name of the test.
	test string
}

var claimPattern = regexp.MustCompile("`([A-Za-z0-9_./-]+\\.(?:rs|go)): ([A-Za-z0-9_]+)`")

// claimsOf returns the tests named in a document, in document order.
func claimsOf(document string) []claim {
	var claims []claim
	for number, line := range strings.Split(document, "\n") {
		for _, match := range claimPattern.FindAllStringSubmatch(line, -1) {
			claims = append(claims, claim{number + 1, match[1], match[2]})
		}
	}
	return claims
}

// sourcesOf returns a repository's Rust and Go files by their paths in it, with slashes.
func sourcesOf(t *testing.T, root string) map[string]string {
	t.Helper()
	sources := make(map[string]string)
	require.NoError(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, extension := entry.Name(), filepath.Ext(path)
		switch {
		case entry.IsDir() && (name == "target" || name == "node_modules" || name == ".git"):
			return filepath.SkipDir
		case entry.IsDir() || extension != ".rs" && extension != ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		sources[filepath.ToSlash(relative)] = string(text)
		return err
	}))
	return sources
}

// check returns an error unless a file whose path ends with the claimed path contains the test.
func (c claim) check(sources map[string]string) error {
	found := false
	for path, text := range sources {
		if path != c.file && !strings.HasSuffix(path, "/"+c.file) {
			continue
		}
		found = true
		if isTest(path, text, c.test) {
			return nil
		}
	}
	if !found {
		return fmt.Errorf("line %d: there is no file %s", c.line, c.file)
	}
	return fmt.Errorf("line %d: %s has no test %s", c.line, c.file, c.test)
}

// isTest reports whether a source file contains a test with this name. A plain function does not count.
func isTest(path, text, name string) bool {
	quoted := regexp.QuoteMeta(name)
	if strings.HasSuffix(path, ".rs") {
		return regexp.MustCompile(`#\[test\]\s+(?:#\[[^\]]*\]\s+)*fn ` + quoted + `\(`).MatchString(text)
	}
	if !strings.HasSuffix(path, "_test.go") {
		return false
	}
	isFunction := strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz")
	if isFunction {
		return strings.Contains(text, "func "+name+"(")
	}
	return strings.Contains(text, `"`+name+`"`)
}

var linkPattern = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// linksOf returns the targets of a Markdown document's links to repository files, omitting fragments. It
// skips links to the web and within the document.
func linksOf(document string) []string {
	var links []string
	for _, match := range linkPattern.FindAllStringSubmatch(document, -1) {
		target, _, _ := strings.Cut(match[1], "#")
		if target != "" && !strings.Contains(target, "://") && !strings.HasPrefix(target, "mailto:") {
			links = append(links, target)
		}
	}
	return links
}

var targetPattern = regexp.MustCompile("`make ([a-z-]+)")

// targetsOf returns the targets of make that a document names.
func targetsOf(document string) []string {
	var targets []string
	for _, match := range targetPattern.FindAllStringSubmatch(document, -1) {
		targets = append(targets, match[1])
	}
	return targets
}
