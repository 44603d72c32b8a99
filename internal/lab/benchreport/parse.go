package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

type benchmarks struct {
	machine, cpu string
	commands     []string
	results      []*result
}

// result is a benchmark's fastest run.
type result struct {
	// group is the benchmark's function, and name the rest of the benchmark name.
	group, name string
	// values holds the measured values by unit, such as ns/op.
	values map[string]float64
	// runs holds the times of all runs, in ns/op.
	runs []float64
}

func (r *result) ns() float64 { return r.values["ns/op"] }

// median returns the median of all runs' times, in ns/op. With an even number of runs, it returns the lower
// middle time.
func (r *result) median() float64 { return slices.Sorted(slices.Values(r.runs))[(len(r.runs)-1)/2] }

// read parses the output of `go test -bench`.
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
		return errors.New("no benchmark in the output")
	}
	return lines.Err()
}

// processors is the suffix appended by go test to a benchmark name.
var processors = regexp.MustCompile(`-[0-9]+$`)

// add parses a line such as
//
//	BenchmarkDecodeEvent/OfferSubmitted/haggle-2   20000000   55.1 ns/op   112 B/op   1 allocs/op
func (r *benchmarks) add(fields []string) error {
	path := processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
	group, name, ok := strings.Cut(path, "/")
	if !ok || len(fields)%2 != 0 {
		return errors.New("unknown benchmark line")
	}
	added := &result{group: group, name: name, values: make(map[string]float64)}
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
		known = added
		r.results = append(r.results, added)
	case added.ns() < known.ns():
		known.values = added.values
	}
	known.runs = append(known.runs, added.ns())
	return nil
}

// find returns a result; nil if there is none.
func (r *benchmarks) find(group, name string) *result {
	for _, result := range r.results {
		if result.group == group && result.name == name {
			return result
		}
	}
	return nil
}

func (r *benchmarks) of(group string) (all []*result) {
	for _, result := range r.results {
		if result.group == group {
			all = append(all, result)
		}
	}
	return all
}
