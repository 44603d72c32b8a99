// Package doclinks checks that the tests, files and targets of make that documents name exist.
//
// A document names a test as `path: name`. path is the end of a file's path in the repository. name is a Rust
// or Go test function, a Go fuzz test, or a scenario of tests/scenarios.
package doclinks

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Claim is a link from a document to a test.
type Claim struct {
	// Line is the document's line, from 1.
	Line int
	// File is the end of the path of the test's file.
	File string
	// Test is the name of the test.
	Test string
}

var claim = regexp.MustCompile("`([A-Za-z0-9_./-]+\\.(?:rs|go)): ([A-Za-z0-9_]+)`")

// Claims returns the tests that a document names, in its order.
func Claims(document string) []Claim {
	var claims []Claim
	for number, line := range strings.Split(document, "\n") {
		for _, match := range claim.FindAllStringSubmatch(line, -1) {
			claims = append(claims, Claim{Line: number + 1, File: match[1], Test: match[2]})
		}
	}
	return claims
}

// Sources returns the Rust and Go files of a repository by their paths in it, with slashes.
func Sources(root string) (map[string]string, error) {
	sources := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); name == "target" || name == "node_modules" || name == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(path) {
		case ".rs", ".go":
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		sources[filepath.ToSlash(relative)] = string(text)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the sources of %s: %w", root, err)
	}
	return sources, nil
}

// Check returns an error unless a file whose path ends with File has the test.
func (c Claim) Check(sources map[string]string) error {
	found := false
	for path, text := range sources {
		if path != c.File && !strings.HasSuffix(path, "/"+c.File) {
			continue
		}
		found = true
		if isTest(path, text, c.Test) {
			return nil
		}
	}
	if !found {
		return fmt.Errorf("line %d: there is no file %s", c.Line, c.File)
	}
	return fmt.Errorf("line %d: %s has no test %s", c.Line, c.File, c.Test)
}

// isTest reports whether a source has a test of this name. A plain function does not count.
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

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Links returns the targets of a Markdown document's links to files of the repository, without fragments. A
// link to the web or within the document is not among them.
func Links(document string) []string {
	var links []string
	for _, match := range link.FindAllStringSubmatch(document, -1) {
		target, _, _ := strings.Cut(match[1], "#")
		if target != "" && !strings.Contains(target, "://") && !strings.HasPrefix(target, "mailto:") {
			links = append(links, target)
		}
	}
	return links
}

var makeTarget = regexp.MustCompile("`make ([a-z-]+)")

// Targets returns the targets of make that a document names.
func Targets(document string) []string {
	var targets []string
	for _, match := range makeTarget.FindAllStringSubmatch(document, -1) {
		targets = append(targets, match[1])
	}
	return targets
}
