// Command phrases compares the English of this repository's comments with that of Go's standard library. It
// prints the phrases of common words that are at least five times as frequent here, and the share of the
// comments' words inside such a phrase. It fails if the share of all comments, or that of a package, is above
// its limit:
//
//	go run ./toolchain/phrases                  all comments, with the limits
//	go run ./toolchain/phrases sdk/agent ...    those of files and folders, without limits
//
// The command has no list of bad phrases, so that it finds new ones as well.
package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// treeLimit is the largest share of the words of all comments, in percent.
	treeLimit = 7.0
	// packageLimit is the largest share of a package with at least packageWords words.
	packageLimit = 9.0
	packageWords = 1_000
	// shown is the number of printed phrases.
	shown = 40
)

// standard are the parts of the standard library whose comments are compared.
var standard = []string{
	"bufio", "bytes", "context", "crypto", "database", "encoding", "errors", "flag", "fmt", "go", "html", "io", "log", "math",
	"mime", "net", "os", "path", "reflect", "sort", "strconv", "strings", "sync", "testing", "text", "time",
}

// generated are parts of the paths of files that nobody edits, and of test data.
var generated = []string{"testdata", "vendor", "/geyser/", "_gen.go", ".pb.go", "zz_", "cmd/compile", "_templ.go", "/queries/"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("phrases: ")
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(paths []string) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	var folders []string
	for _, name := range standard {
		folders = append(folders, filepath.Join(strings.TrimSpace(string(root)), "src", name))
	}
	known, err := sources(folders)
	if err != nil {
		return err
	}
	reference, err := read(known)
	if err != nil {
		return err
	}
	limited := len(paths) == 0
	if limited {
		listed, err := exec.Command("git", "ls-files", "*.go", "*.rs").Output()
		if err != nil {
			return fmt.Errorf("git ls-files: %w", err)
		}
		paths = strings.Fields(string(listed))
	}
	files, err := sources(paths)
	if err != nil {
		return err
	}
	comments, err := read(files)
	if err != nil {
		return err
	}
	style := newStyle(reference)
	all := style.compare(comments)
	if !limited {
		all.print(shown)
		return nil
	}
	fmt.Printf("%.1f %% of %d words are in a phrase that Go's standard library hardly uses\n", all.share, all.words)
	if all.share > treeLimit {
		all.print(shown)
		return fmt.Errorf("the limit of all comments is %.1f %%", treeLimit)
	}
	var above []string
	for folder, part := range byFolder(comments) {
		if c := style.compare(part); c.words >= packageWords && c.share > packageLimit {
			above = append(above, fmt.Sprintf("%s: %.1f %% (go run ./toolchain/phrases %s)", folder, c.share, folder))
		}
	}
	if len(above) > 0 {
		slices.Sort(above)
		return fmt.Errorf("the limit of a package is %.1f %%:\n%s", packageLimit, strings.Join(above, "\n"))
	}
	return nil
}

// sources returns the Go and Rust files in files and folders, but the generated ones.
func sources(paths []string) (files []string, err error) {
	for _, start := range paths {
		err := filepath.WalkDir(start, func(name string, entry fs.DirEntry, err error) error {
			source := strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".rs")
			is := func(part string) bool { return strings.Contains(name, part) }
			if err == nil && !entry.IsDir() && source && !slices.ContainsFunc(generated, is) {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func read(files []string) (comments []comment, err error) {
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		comments = append(comments, commentsOf(name, string(content))...)
	}
	return comments, nil
}

func byFolder(comments []comment) map[string][]comment {
	folders := map[string][]comment{}
	for _, c := range comments {
		folder := path.Dir(filepath.ToSlash(c.file))
		folders[folder] = append(folders[folder], c)
	}
	return folders
}

// print prints the phrases that cover the most words, each with a place, and the share.
func (c *comparison) print(most int) {
	phrases := slices.SortedFunc(maps.Keys(c.phrases), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.covers(b), c.covers(a)), cmp.Compare(a, b))
	})
	for _, phrase := range phrases[:min(most, len(phrases))] {
		found := c.phrases[phrase]
		fmt.Printf("%5d times, %5.0f x  %-28s %s\n", found.count, found.ratio, phrase, found.place)
	}
	fmt.Printf("%.1f %% of %d words are in a phrase that Go's standard library hardly uses\n", c.share, c.words)
}
