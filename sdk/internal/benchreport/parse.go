package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// report is what one run of the benchmarks has measured.
type report struct {
	toolchain, command, cpu string
	rows                    []*row
}

// row is a benchmark, ours and anchor-go's where there is one.
type row struct {
	group, name   string
	ours, anchors *measure
}

type measure struct {
	ns            float64
	bytes, allocs int
}

// parse reads what `go test -bench` prints.
func parse(output io.Reader) (*report, error) {
	r := &report{}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		line := lines.Text()
		if cpu, ok := strings.CutPrefix(line, "cpu: "); ok {
			r.cpu = cpu
		}
		if strings.HasPrefix(line, "Benchmark") {
			if err := r.add(line); err != nil {
				return nil, err
			}
		}
	}
	if len(r.rows) == 0 {
		return nil, fmt.Errorf("no benchmark has been run")
	}
	return r, lines.Err()
}

// add takes a line such as
//
//	BenchmarkDecodeEvent/OfferSubmitted/haggle-2   20000000   55.1 ns/op   112 B/op   1 allocs/op
func (r *report) add(line string) error {
	fields := strings.Fields(line)
	parts := strings.Split(strings.TrimPrefix(fields[0], "Benchmark"), "/")
	if len(fields) != 8 || len(parts) != 3 {
		return fmt.Errorf("not the line of a benchmark of ours: %s", line)
	}
	m, err := measured(fields)
	if err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	row := r.row(parts[0], parts[1])
	if whose := parts[2]; strings.HasPrefix(whose, "anchor-go") {
		row.anchors = faster(row.anchors, m)
	} else {
		row.ours = faster(row.ours, m)
	}
	return nil
}

// faster picks the better one of several runs.
func faster(a, b *measure) *measure {
	if a != nil && a.ns < b.ns {
		return a
	}
	return b
}

func measured(fields []string) (*measure, error) {
	var m measure
	var err error
	if m.ns, err = strconv.ParseFloat(fields[2], 64); err != nil {
		return nil, err
	}
	if m.bytes, err = strconv.Atoi(fields[4]); err != nil {
		return nil, err
	}
	m.allocs, err = strconv.Atoi(fields[6])
	return &m, err
}

func (r *report) row(group, name string) *row {
	for _, row := range r.rows {
		if row.group == group && row.name == name {
			return row
		}
	}
	r.rows = append(r.rows, &row{group: group, name: name})
	return r.rows[len(r.rows)-1]
}
