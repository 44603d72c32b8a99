package report

import "fmt"

// findingsKept is the number of findings that are described.
const findingsKept = 20

// Findings are the differences between the results of a run and the expected ones. The zero value has none.
// It is not safe for concurrent use.
type Findings struct {
	// Count is the number of all findings.
	Count int
	texts []string
}

// Add adds a finding.
func (f *Findings) Add(format string, arguments ...any) {
	f.Count++
	if len(f.texts) < findingsKept {
		f.texts = append(f.texts, fmt.Sprintf(format, arguments...))
	}
}

// Texts returns a description of each of the first findings, and the number of the others.
func (f *Findings) Texts() []string {
	if more := f.Count - len(f.texts); more > 0 {
		return append(f.texts, fmt.Sprintf("and %d more", more))
	}
	return f.texts
}
