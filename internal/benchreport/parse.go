package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// benchmarks has the results of all benchmarks.
type benchmarks struct {
	machine, cpu string
	commands     []string
	results      []*result
}

// result is the fastest run of a benchmark.
type result struct {
	// group is the benchmark's function, and name the rest of its name.
	group, name string
	// values are what it has measured, by unit, such as ns/op.
	values map[string]float64
}

func (r *result) ns() float64 { return r.values["ns/op"] }

// read reads what `go test -bench` prints.
func (r *benchmarks) read(output io.Reader) error {
	found := false
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		line := lines.Text()
		if cpu, ok := strings.CutPrefix(line, "cpu: "); ok {
			r.cpu = cpu
		}
		if fields := strings.Fields(line); strings.HasPrefix(line, "Benchmark") && len(fields) > 1 {
			found = true
			if err := r.add(fields); err != nil {
				return fmt.Errorf("%s: %w", line, err)
			}
		}
	}
	if !found {
		return errors.New("no benchmark has been run")
	}
	return lines.Err()
}

// processors is what go test adds to the name of a benchmark.
var processors = regexp.MustCompile(`-[0-9]+$`)

// add takes a line such as
//
//	BenchmarkDecodeEvent/OfferSubmitted/haggle-2   20000000   55.1 ns/op   112 B/op   1 allocs/op
func (r *benchmarks) add(fields []string) error {
	group, name, ok := strings.Cut(processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), ""), "/")
	if !ok || len(fields)%2 != 0 {
		return errors.New("not the line of a benchmark of ours")
	}
	added := &result{group, name, make(map[string]float64)}
	for i := 2; i < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return err
		}
		added.values[fields[i+1]] = value
	}
	known := r.find(group, name)
	switch {
	case known == nil:
		r.results = append(r.results, added)
	case added.ns() < known.ns():
		known.values = added.values
	}
	return nil
}

// find is nil if there is no such result.
func (r *benchmarks) find(group, name string) *result {
	for _, one := range r.results {
		if one.group == group && one.name == name {
			return one
		}
	}
	return nil
}

// of are a group's results.
func (r *benchmarks) of(group string) (all []*result) {
	for _, one := range r.results {
		if one.group == group {
			all = append(all, one)
		}
	}
	return all
}
