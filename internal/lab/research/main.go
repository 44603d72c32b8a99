// Command research draws the figures for docs/RESEARCH.md, and computes the tables there and in
// docs/GATEWAY.md:
//
//	go run ./internal/lab/research docs
//
// It prints the table of earnings, which takes a minute:
//
//	go run ./internal/lab/research earnings
//
// Everything follows from engine functions and formulas; nothing is measured, except for the recorded takings
// of earlier rules. A test compares the files with the output.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"

	"github.com/haggle-protocol/haggle/internal/lab/report"
)

// earningsScenarios is the number of scenarios of the table of earnings.
const earningsScenarios = 300

// page is the file with the figures, relative to their directory.
const page = "RESEARCH.md"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/lab/research FOLDER, or: go run ./internal/lab/research earnings")
		os.Exit(2)
	}
	if os.Args[1] == "earnings" {
		table, err := earningsTable(earningsScenarios)
		if err != nil {
			fmt.Fprintln(os.Stderr, "research:", err)
			os.Exit(1)
		}
		fmt.Print(table)
		return
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "research:", err)
		os.Exit(1)
	}
}

// figures maps files to figures.
var figures = map[string]func() (*plot.Plot, error){
	"research-frontier.svg":   drawFrontier,
	"research-rubinstein.svg": drawRubinstein,
	"research-rounds.svg":     drawRounds,
	"research-efficiency.svg": drawEfficiency,
	"research-offers.svg":     drawOffers,
}

// tables maps files to tables by name. In each file a table stands between "<!-- table NAME -->" and
// "<!-- end -->".
var tables = map[string]map[string]func() (string, error){
	page: {
		"rubinstein": rubinsteinTable,
		"equilibria": equilibriaTable,
		"fits":       fitsTable,
		"strategies": strategyList,
		"models":     modelsTable,
		"generator":  generatorTable,
		"purchase":   purchaseTable,
	},
	"GATEWAY.md": {"licenses": licensesTable, "buyers": buyersTable},
}

func write(folder string) error {
	generated, err := generate(folder)
	if err != nil {
		return err
	}
	for name, content := range generated {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns files by name: the figures, and the directory's files with new tables.
func generate(folder string) (map[string][]byte, error) {
	generated := map[string][]byte{}
	for name, draw := range figures {
		var picture bytes.Buffer
		p, err := draw()
		if err == nil {
			err = report.WriteSVG(&picture, p)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		generated[name] = picture.Bytes()
	}
	for file, content := range tables {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			return nil, err
		}
		for name, table := range content {
			rows, err := table()
			if err == nil {
				text, err = replaced(text, name, rows)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: table %s: %w", file, name, err)
			}
		}
		generated[file] = text
	}
	return generated, nil
}

// replaced returns a file with a table's rows replaced.
func replaced(text []byte, name, rows string) ([]byte, error) {
	start := []byte("<!-- table " + name + " -->\n")
	before, rest, found := bytes.Cut(text, start)
	_, after, closed := bytes.Cut(rest, []byte("<!-- end -->"))
	if !found || !closed {
		return nil, fmt.Errorf("no place: %w", io.ErrUnexpectedEOF)
	}
	return slices.Concat(before, start, []byte(rows), []byte("<!-- end -->"), after), nil
}
