// Package progress reports which step a running command is at.
package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// Delay is how long a command runs until the first report.
	Delay = 2 * time.Second
	// FirstInterval is the time between the first two reports. It doubles with each report, up to
	// MaxInterval.
	FirstInterval = 5 * time.Second
	MaxInterval   = time.Minute
)

// Reporter writes a line after [Delay], and then in growing intervals. A nil Reporter writes nothing.
type Reporter struct {
	out   io.Writer
	json  bool
	began time.Time
	timer *time.Timer

	lock     sync.Mutex
	stage    string
	interval time.Duration
	paused   int
	stopped  bool
}

// Start reports until Stop is called.
func Start(out io.Writer, stage string, asJSON bool) *Reporter {
	r := &Reporter{out: out, json: asJSON, stage: stage, interval: FirstInterval, began: time.Now()}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.timer = time.AfterFunc(Delay, r.report)
	return r
}

// Stage names the step that begins.
func (r *Reporter) Stage(stage string) {
	if r == nil {
		return
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.stage = stage
}

// Pause stops the reports until the function that it returns is called, for example while a question is open.
func (r *Reporter) Pause() (resume func()) {
	if r == nil {
		return func() {}
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.paused++
	return func() {
		r.lock.Lock()
		defer r.lock.Unlock()
		r.paused--
	}
}

// Stop ends the reports. Nothing is written once it has returned.
func (r *Reporter) Stop() {
	if r == nil {
		return
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.stopped = true
	r.timer.Stop()
}

// Document is a report as JSON, on stderr.
type Document struct {
	Progress document `json:"progress"`
}

// document contains a running command's step and the time since the start.
type document struct {
	Stage   string `json:"stage"`
	Seconds int64  `json:"seconds"`
}

func (r *Reporter) report() {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.stopped {
		return
	}
	r.timer.Reset(r.interval)
	r.interval = min(2*r.interval, MaxInterval)
	if r.paused == 0 {
		r.write()
	}
}

// Report writes a line at once.
func (r *Reporter) Report(stage string) {
	if r == nil {
		return
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.stage = stage
	r.write()
}

func (r *Reporter) write() {
	elapsed := time.Since(r.began).Round(time.Second)
	if r.json {
		_ = json.NewEncoder(r.out).Encode(Document{document{r.stage, int64(elapsed / time.Second)}})
		return
	}
	fmt.Fprintf(r.out, "%s (%s)\n", r.stage, elapsed)
}
