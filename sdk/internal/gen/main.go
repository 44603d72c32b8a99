// Command gen writes the generated part of package protocol from the program's IDL: constants, types,
// accounts, events, instructions, addresses and errors, including their bytes; from idl/effects.json what
// each instruction requires, pays and changes; and from program/cu.json the instructions' worst cases in
// compute units.
//
// It is run by `go generate ./sdk/protocol`.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gagliardetto/anchor-go/idl"
)

func main() {
	idlPath := flag.String("idl", "../../idl/haggle.json", "the program's IDL")
	effectsPath := flag.String("effects", "../../idl/effects.json", "the instructions' effects")
	cuPath := flag.String("cu", "../../program/cu.json", "the instructions' compute units")
	out := flag.String("out", ".", "the folder of package protocol")
	flag.Parse()
	if err := run(*idlPath, *effectsPath, *cuPath, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(idlPath, effectsPath, cuPath, out string) error {
	program, err := idl.ParseFromFilepath(idlPath)
	if err != nil {
		return err
	}
	rows, err := readEffects(effectsPath)
	if err != nil {
		return err
	}
	files, err := render(program, rows)
	if err != nil {
		return err
	}
	if err := write(out, files); err != nil {
		return err
	}
	if files, err = renderCompute(cuPath, program); err != nil {
		return err
	}
	return write(out, files)
}

func write(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
