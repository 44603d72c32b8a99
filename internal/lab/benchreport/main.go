// Command benchreport runs the SDK's benchmarks and writes docs/BENCHMARKS.md. The page compares the SDK's
// codec with anchor-go's reflective code for the same bytes, and actions with their requests. Compared
// figures come from the same run.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/haggle-protocol/haggle/internal/lab/report"
)

func main() {
	out := flag.String("out", "docs/BENCHMARKS.md", "file for the page")
	only := flag.Bool("engine", false, "measure only the bargaining engine, and replace its section of the page")
	flag.Parse()
	write := run
	if *only {
		write = runEngine
	}
	if err := write(*out); err != nil {
		fmt.Fprintln(os.Stderr, "benchreport:", err)
		os.Exit(1)
	}
}

type measurement struct {
	benchmarks, pkg string
	// length is -benchtime, and count is -count, of go test.
	length string
	count  string
	// environment is added to this process's environment.
	environment []string
	// overlay reports whether anchor-go's client is added (see writeOverlay).
	overlay bool
}

var measurements = []measurement{
	{benchmarks: "DecodeAccount|DecodeEvent|RecogniseEvent|BuildInstruction|ParseLogs", pkg: "./sdk/protocol",
		length: "3ms", count: "60", overlay: true},
	{benchmarks: "Call", pkg: "./sdk", length: "100ms", count: "5"},
	{benchmarks: "Action", pkg: "./tests/overhead", length: "500ms", count: "3"},
	{benchmarks: "Subscriptions", pkg: "./tests/overhead", length: "15x", count: "1",
		environment: []string{"HAGGLE_CHAIN=validator"}},
	chainMeasurement,
	engineMeasurement,
}

// chainMeasurement needs a validator for the comparison.
var chainMeasurement = measurement{benchmarks: "Chain", pkg: "./tests/overhead", length: "20x", count: "3"}

// engineMeasurement needs no chain.
var engineMeasurement = measurement{
	benchmarks: engineSessions + "|" + engineTables, pkg: "./sdk/bargain/mechanism", length: "2ms", count: "61",
}

// arguments returns the go command's arguments. overlay is the path to anchor-go's overlay.
func (m measurement) arguments(overlay string) []string {
	arguments := []string{"test", "-vet=off", "-run", "^$", "-bench", "^Benchmark(" + m.benchmarks + ")$",
		"-benchmem", "-benchtime", m.length, "-count", m.count}
	if m.overlay {
		arguments = append(arguments, "-overlay", overlay)
	}
	return append(arguments, m.pkg)
}

func run(out string) error {
	folder, err := os.MkdirTemp("", "haggle-anchor-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	overlay, err := writeOverlay(root, folder)
	if err != nil {
		return err
	}
	r := &benchmarks{machine: report.Machine()}
	for _, m := range measurements {
		if err := r.measure(m, overlay); err != nil {
			return err
		}
	}
	page, err := r.page()
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(page), 0o644)
}

// runEngine measures the bargaining engine, and replaces the engine section on a page.
func runEngine(out string) error {
	page, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	r := &benchmarks{machine: report.Machine()}
	if err := r.measure(engineMeasurement, ""); err != nil {
		return err
	}
	section, err := r.sessions()
	if err != nil {
		return err
	}
	replaced, err := replaceSection(string(page), section)
	if err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	return os.WriteFile(out, []byte(replaced), 0o644)
}

// measure runs a measurement and reads the output.
func (r *benchmarks) measure(m measurement, overlay string) error {
	command := exec.Command("go", m.arguments(overlay)...)
	command.Env = append(os.Environ(), m.environment...)
	command.Stderr = os.Stderr
	words := append(slices.Clone(m.environment), "go")
	shown := strings.Join(append(words, m.arguments("overlay.json")...), " ")
	fmt.Fprintln(os.Stderr, "==>", shown)
	output, err := command.Output()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, output)
	}
	if err := r.read(bytes.NewReader(output)); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	r.commands = append(r.commands, shown)
	return nil
}
