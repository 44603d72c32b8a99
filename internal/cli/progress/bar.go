package progress

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// barInterval limits how often a bar is updated.
const barInterval = 100 * time.Millisecond

// IsTerminal reports whether the writer is a terminal with cursor movement.
func IsTerminal(out io.Writer) bool {
	file, isFile := out.(*os.File)
	return isFile && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}

// Bar is a progress bar on a terminal, with the count, the rate and the time left. It must not be used by
// several goroutines.
type Bar struct {
	out  io.Writer
	unit string
	bar  *progressbar.ProgressBar
}

// NewBar returns a bar that appears with the first Set. Unit is the name of the counted things, in the
// plural.
func NewBar(out io.Writer, unit string) *Bar { return &Bar{out: out, unit: unit} }

// Set shows how many are done. The first call decides the total number.
func (b *Bar) Set(done, of int) {
	if b.bar == nil {
		b.bar = progressbar.NewOptions(of,
			progressbar.OptionSetWriter(b.out), progressbar.OptionSetDescription(b.unit),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(b.unit),
			progressbar.OptionThrottle(barInterval), progressbar.OptionSetWidth(30),
			progressbar.OptionSetRenderBlankState(true))
	}
	_ = b.bar.Set(done) // the terminal is gone
}

// Stop removes the bar.
func (b *Bar) Stop() {
	if b.bar != nil {
		_ = b.bar.Clear() // the terminal is gone
	}
}
