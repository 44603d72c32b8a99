// Command research draws the figures of docs/RESEARCH.md and computes its tables:
//
//	go run ./internal/research docs
//
// It prints the table of earnings, which takes a minute:
//
//	go run ./internal/research earnings
//
// Everything follows from the engine's own functions and from formulas; nothing is measured. A test compares
// the files with the output.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"

	"github.com/haggle-protocol/haggle/internal/report"
)

// earningsScenarios is the number of scenarios of the table of earnings.
const earningsScenarios = 300

// page is the file with the tables, in the folder of the figures.
const page = "RESEARCH.md"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/research FOLDER, or: go run ./internal/research earnings")
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

// figures are the figures by their files.
var figures = map[string]func() (*plot.Plot, error){
	"research-frontier.svg":   drawFrontier,
	"research-rubinstein.svg": drawRubinstein,
	"research-rounds.svg":     drawRounds,
	"research-efficiency.svg": drawEfficiency,
	"research-offers.svg":     drawOffers,
}

// tables are the tables by their names. In the page a table stands between "<!-- table NAME -->" and
// "<!-- end -->".
var tables = map[string]func() (string, error){
	"rubinstein": rubinsteinTable,
	"equilibria": equilibriaTable,
	"fits":       fitsTable,
	"strategies": strategyList,
	"models":     modelsTable,
	"generator":  generatorTable,
	"purchase":   purchaseTable,
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

// generate returns the files by their names: the figures, and the page of the folder with new tables.
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
	content, err := os.ReadFile(filepath.Join(folder, page))
	if err != nil {
		return nil, err
	}
	text := string(content)
	for name, table := range tables {
		rows, err := table()
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
		if text, err = replaced(text, name, rows); err != nil {
			return nil, err
		}
	}
	generated[page] = []byte(text)
	return generated, nil
}

// replaced returns the page with another content of a table.
func replaced(text, name, rows string) (string, error) {
	start := "<!-- table " + name + " -->\n"
	before, rest, found := strings.Cut(text, start)
	_, after, closed := strings.Cut(rest, "<!-- end -->")
	if !found || !closed {
		return "", fmt.Errorf("%s: table %q has no place: %w", page, name, io.ErrUnexpectedEOF)
	}
	return before + start + rows + "<!-- end -->" + after, nil
}
