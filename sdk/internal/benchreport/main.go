// Command benchreport runs the SDK's benchmarks and writes a page about them: ours beside anchor-go's reflective code for
// the same bytes, measured in the same run.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

func main() {
	out := flag.String("out", "docs/BENCHMARKS.md", "the page to write")
	pkg := flag.String("package", "./sdk", "the package whose benchmarks are run")
	flag.Parse()
	if err := run(*pkg, *out); err != nil {
		fmt.Fprintln(os.Stderr, "benchreport:", err)
		os.Exit(1)
	}
}

func run(pkg, out string) error {
	command := exec.Command("go", "test", "-run", "^$", "-bench", ".", "-benchmem", "-benchtime", "3ms", "-count", "60", pkg)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, output)
	}
	r, err := parse(bytes.NewReader(output))
	if err != nil {
		return err
	}
	r.toolchain = runtime.Version()
	r.command = strings.Join(command.Args, " ")
	return os.WriteFile(out, []byte(r.page()), 0o644)
}
