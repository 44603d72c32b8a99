package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/cmd/haggle/demo"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/progress"
	"github.com/haggle-protocol/haggle/internal/cli/session"
)

const (
	checkout = "../.."
	schemas  = checkout + "/docs/schemas"
	// writeSchemas is the variable that makes the test write docs/schemas: make schemas.
	writeSchemas = "HAGGLE_WRITE_SCHEMAS"
)

// textCommands print no documents: they are pages of the help, scripts for the shell, or a server on stdout.
var textCommands = []string{"mcp", "hire mcp", "arena mcp", "help", "exit-codes", "completion bash", "completion fish", "completion powershell", "completion zsh"}

// commandsWithDocuments returns the commands that print documents with --json.
func commandsWithDocuments(t *testing.T) (found []*cobra.Command) {
	t.Helper()
	everyCommand(t, func(cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), "haggle ")
		switch {
		case cmd.HasSubCommands() || slices.Contains(textCommands, name):
			require.Empty(t, command.DocumentsOf(cmd), name)
		default:
			require.NotEmpty(t, command.DocumentsOf(cmd), "%s declares the types of its documents: command.Documents", name)
			found = append(found, cmd)
		}
	})
	return found
}

// docs/schemas contains exactly the schemas for every command's documents.
func TestSchemasAreUpToDate(t *testing.T) {
	g := newSchemaGenerator(t)
	generated := map[string][]byte{
		amountFile: g.amount(), eventFile: g.event(),
		errorFile:    g.of("An error, on stderr", reflect.TypeFor[exitcode.Document]()),
		progressFile: g.of("A report of progress, on stderr", reflect.TypeFor[progress.Document]()),
	}
	var index strings.Builder
	index.WriteString(indexText)
	for _, cmd := range commandsWithDocuments(t) {
		name := schemaFile(cmd)
		generated[name] = g.of(cmd.CommandPath()+" --json", command.DocumentsOf(cmd)...)
		fmt.Fprintf(&index, "| `%s` | [%s](%s) |\n", cmd.CommandPath(), name, name)
	}
	generated["README.md"] = []byte(index.String())

	checkFiles(t, schemas, generated)
}

// checkFiles compares a directory's files with the generated files, or writes them. Subdirectories stay.
func checkFiles(t *testing.T, folder string, generated map[string][]byte) {
	t.Helper()
	if os.Getenv(writeSchemas) != "" {
		require.NoError(t, os.MkdirAll(folder, 0o755))
		for _, name := range filesIn(t, folder) {
			require.NoError(t, os.Remove(filepath.Join(folder, name)))
		}
		for name, content := range generated {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o644))
		}
	}
	for _, name := range filesIn(t, folder) {
		content, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, string(generated[name]), string(content), "%s: run make schemas", name)
		delete(generated, name)
	}
	require.Empty(t, generated, "missing schemas: run make schemas")
}

func filesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		if !entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names
}

const indexText = "# Schemas of the output with --json\n" + `
With ` + "`--json`" + ` every command prints one JSON document per line on stdout. These are the JSON Schemas (2020-12)
of the documents, generated from the types that the commands print (` + "`make schemas`" + `). A test compares them with
the types, and validates the output of every command in the command line's tests.

Amounts are objects with base units and tokens ([amount.json](amount.json)), both as text, because they may not
fit a JSON number. Times are Unix seconds of the chain's clock, or, where a schema says ` + "`date-time`" + `, RFC 3339.
Addresses are in base 58, other bytes in hex. The schemas are those of this version and allow no other fields;
a later version can add some, so ignore fields that you do not know.

On stderr an error is one document ([error.json](error.json)), and so is a report of progress
([progress.json](progress.json)). The folder hire has the schemas of the messages of HIRE/1.0
([message.json](hire/message.json)), and of their payloads.

| command | schema |
|---|---|
`

// The schemas of documents on stderr.
const (
	errorFile    = "error.json"
	progressFile = "progress.json"
)

// schemaFile returns the name of the file with a command's schema: negotiation-show.json.
func schemaFile(cmd *cobra.Command) string {
	path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	return strings.ReplaceAll(path, " ", "-") + ".json"
}

// validate checks every output line against the schemas in a directory: each line must match a schema. An
// empty line is an error.
func validate(folder string, output []byte, names ...string) error {
	compiler := jsonschema.NewCompiler()
	var compiled []*jsonschema.Schema
	for _, name := range names {
		schema, err := compiler.Compile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		compiled = append(compiled, schema)
	}
	for line := range bytes.Lines(output) {
		if err := validateLine(compiled, line); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(names, " or "), err, line)
		}
	}
	return nil
}

func validateLine(compiled []*jsonschema.Schema, line []byte) error {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		return err
	}
	for _, schema := range compiled {
		if err = schema.Validate(document); err == nil {
			return nil
		}
	}
	return err
}

// documentReport is the environment variable naming the file where the scripts' commands report documents.
const documentReport = "HAGGLE_DOCUMENT_REPORT"

// mainWithValidation is main for the scripts. It validates the documents of commands with --json, and reports
// each command with the result.
func mainWithValidation() {
	demo.RunAgent(os.Args[1:])
	path := os.Getenv(documentReport)
	if path == "" {
		main()
		return
	}
	var out, messages bytes.Buffer
	code := execute(io.MultiWriter(os.Stdout, &out), io.MultiWriter(os.Stderr, &messages))
	if report := validated(os.Args[1:], out.Bytes(), messages.Bytes()); report != "" {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = file.WriteString(report + "\n")
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// validated returns "valid FILE" for a command with --json that printed documents, the problem as a line if a
// document is invalid, and nothing for other commands.
func validated(arguments []string, out, messages []byte) string {
	if !slices.Contains(arguments, "--json") {
		return ""
	}
	folder := filepath.Join(os.Getenv("CHECKOUT"), schemas)
	problem := func(err error) string { return fmt.Sprintf("invalid %q: %q", arguments, err.Error()) }
	for line := range bytes.Lines(messages) {
		// Loggers write JSON objects, too.
		if bytes.HasPrefix(line, []byte(`{"time":`)) {
			continue
		}
		if err := validate(folder, line, errorFile, progressFile); err != nil {
			return problem(err)
		}
	}
	if len(out) == 0 {
		return ""
	}
	root := newRootCommand(&session.Session{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
	cmd, _, err := root.Find(arguments)
	if err == nil {
		err = validate(folder, out, schemaFile(cmd))
	}
	if err != nil {
		return problem(err)
	}
	return "valid " + schemaFile(cmd)
}

// checkDocuments requires that all documents of the scripts were valid, and, after all scripts, that every
// command was among them.
func checkDocuments(t *testing.T, path string, all bool) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		name, valid := strings.CutPrefix(line, "valid ")
		if !valid {
			t.Error(line)
		}
		seen[name] = true
	}
	if !all || t.Failed() {
		return
	}
	for _, cmd := range commandsWithDocuments(t) {
		if !seen[schemaFile(cmd)] {
			t.Errorf("no script runs %s --json", cmd.CommandPath())
		}
	}
}

func TestAnInvalidDocumentIsReported(t *testing.T) {
	t.Setenv("CHECKOUT", ".")
	const valid = `{"version":"1","program":"x"}` + "\n"
	require.Equal(t, "valid version.json", validated([]string{"version", "--json"}, []byte(valid), nil))
	require.Empty(t, validated([]string{"version"}, []byte("text"), nil))
	require.Contains(t, validated([]string{"version", "--json"}, []byte(`{"version":1}`), nil), "invalid")
	require.Contains(t, validated([]string{"version", "--json"}, []byte(valid), []byte("text\n")), "invalid")
	require.Empty(t, validated([]string{"version", "--json"}, nil, []byte(`{"error":{"exit_code":1,"name":"x","message":"y"}}`)))
	require.Equal(t, 0, run(context.Background(), []string{"version", "--json"}, strings.NewReader(""), io.Discard, io.Discard))
}
