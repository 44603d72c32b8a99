package main

import (
	"bytes"
	"fmt"
	"go/format"

	"github.com/gagliardetto/anchor-go/generator"
	"github.com/gagliardetto/anchor-go/idl"
)

// renderAnchor has anchor-go write its client of the IDL.
func renderAnchor(idlPath string) (map[string][]byte, error) {
	parsed, err := idl.ParseFromFilepath(idlPath)
	if err != nil {
		return nil, fmt.Errorf("anchor-go: %w", err)
	}
	output, err := generator.NewGenerator(parsed, &generator.GeneratorOptions{
		Package:     "anchor",
		ProgramName: "haggle",
		ProgramId:   parsed.Address,
		SkipGoMod:   true,
	}).Generate()
	if err != nil {
		return nil, fmt.Errorf("anchor-go: %w", err)
	}
	files := map[string][]byte{}
	for _, file := range output.Files {
		var source bytes.Buffer
		if err := file.File.Render(&source); err != nil {
			return nil, fmt.Errorf("anchor-go: %s: %w", file.Name, err)
		}
		formatted, err := format.Source(source.Bytes())
		if err != nil {
			return nil, fmt.Errorf("anchor-go: %s: %w", file.Name, err)
		}
		files[file.Name] = formatted
	}
	return files, nil
}
