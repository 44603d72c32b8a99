package report

import "fmt"

// findingsKept is the number of findings that are described.
const findingsKept = 20

// Findings collects differences between a run's results and the expected results. The zero value is empty.
// Findings is not safe for concurrent use.
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

// Texts returns descriptions of the first findings, and the number of the others.
func (f *Findings) Texts() []string {
	if more := f.Count - len(f.texts); more > 0 {
		return append(f.texts, fmt.Sprintf("and %d more", more))
	}
	return f.texts
}
