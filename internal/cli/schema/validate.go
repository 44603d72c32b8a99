package schema

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
)

// FileOf returns the name of the file with a command's schema: negotiation-show.json.
func FileOf(cmd *cobra.Command) string {
	path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	return strings.ReplaceAll(path, " ", "-") + ".json"
}

// The schemas of documents on stderr.
const (
	ErrorFile    = "error.json"
	ProgressFile = "progress.json"
)

// Validate checks every line of an output against one of the schemas in a folder. An empty line is an error.
func Validate(folder string, output []byte, names ...string) error {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
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
