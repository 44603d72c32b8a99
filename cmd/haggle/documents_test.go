package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
)

// scripts returns the script paths in testdata/script, and the generated scripts that run every command in
// the documents for language models, in document order.
func scripts(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, document := range []string{"SKILL.md", "llms.txt"} {
		content, err := os.ReadFile(filepath.Join("..", "..", document))
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), strings.TrimSuffix(document, filepath.Ext(document))+".txtar")
		require.NoError(t, os.WriteFile(path, []byte(scriptOf(t, string(content))), 0o600))
		paths = append(paths, path)
	}
	return paths
}

var (
	// documentedFile is a block that begins with ```json NAME.
	documentedFile = regexp.MustCompile("(?s)```json ([a-z.]+)\n(.*?)```")
	// documentedCommand is a line in a console block. A comment can state the exit code.
	documentedCommand = regexp.MustCompile(`(?m)^\$ (haggle .*?)(?:\s+# (.*))?$`)
	exitCode          = regexp.MustCompile(`^exit code (\d+)$`)
	// placeholder is a value that the reader replaces.
	placeholder = regexp.MustCompile(`\b(BUYER|SELLER|MINT|NEGOTIATION)\b`)
)

// scriptOf returns a document's commands and files as a script.
func scriptOf(t *testing.T, document string) string {
	t.Helper()
	commands := documentedCommand.FindAllStringSubmatch(document, -1)
	require.NotEmpty(t, commands)
	require.Len(t, commands, strings.Count(document, "\n$ "), "every command is one of haggle")
	script, files := "chain\n", ""
	for _, file := range documentedFile.FindAllStringSubmatch(document, -1) {
		script += "fill " + file[1] + "\n"
		files += "-- " + file[1] + " --\n" + placeholder.ReplaceAllString(file[2], "$$$1")
	}
	for _, command := range commands {
		line := placeholder.ReplaceAllString(command[1], "$$$1")
		line = strings.ReplaceAll(line, `"`, `'`)
		if strings.Contains(line, " negotiation close ") {
			line = "advance 1s\n" + line // not in the second of creation
		}
		if code := exitCode.FindStringSubmatch(command[2]); code != nil {
			line = "exits " + code[1] + " " + line
		}
		script += line + "\n"
		if strings.Contains(line, " negotiation create ") && strings.Contains(line, "--key") {
			script += "field NEGOTIATION .negotiation\n"
		}
	}
	return script + files
}

// exitCodeRow is a row of a table of exit codes: the code, its meaning, and the reader's next step.
var exitCodeRow = regexp.MustCompile(`(?m)^\| (\d+ \| .*?) \| .* \|$`)

func TestSkillExitCodesMatchTheHelp(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "..", "SKILL.md"))
	require.NoError(t, err)
	var documented, want []string
	for _, row := range exitCodeRow.FindAllStringSubmatch(string(content), -1) {
		documented = append(documented, row[1])
	}
	for _, known := range exitcode.Kinds {
		want = append(want, fmt.Sprintf("%d | %s", known.Kind, known.Meaning))
	}
	require.Equal(t, want, documented)
}
