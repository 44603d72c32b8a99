package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"path/filepath"

	"github.com/gagliardetto/anchor-go/generator"
	"github.com/gagliardetto/anchor-go/idl"
)

// anchorBenchmarks is the file that adds anchor-go's client to the benchmarks of sdk/protocol.
const anchorBenchmarks = "internal/lab/benchreport/testdata/anchor_bench_test.go"

// writeOverlay generates anchor-go's IDL client into a directory. It returns the path to an overlay for
// `go test -overlay` that adds the client as sdk/internal/anchor, with the benchmarks that call it. root is
// the repository.
func writeOverlay(root, folder string) (string, error) {
	files, err := renderAnchor(filepath.Join(root, "idl", "haggle.json"))
	if err != nil {
		return "", err
	}
	replace := map[string]string{
		filepath.Join(root, "sdk", "protocol", "anchor_bench_test.go"): filepath.Join(root, anchorBenchmarks),
	}
	for name, content := range files {
		written := filepath.Join(folder, name)
		if err := os.WriteFile(written, content, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, "sdk", "internal", "anchor", name)] = written
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, overlay, 0o600)
}

// renderAnchor returns the client files that anchor-go generates from the IDL.
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
