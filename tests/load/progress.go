package load

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haggle-protocol/haggle/internal/lab/report"
)

// progressInterval is the pause between progress lines.
const progressInterval = 2 * time.Second

type progress struct {
	mutex sync.Mutex
	out   io.Writer
}

func (p *progress) printf(format string, arguments ...any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	fmt.Fprintf(p.out, format+"\n", arguments...)
}

// watch prints the progress regularly until stop is called.
func (p *progress) watch(title, things string, total int, done *atomic.Int64) (stop func()) {
	began := time.Now()
	stopped := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-stopped:
				return
			case <-time.After(progressInterval):
				p.printf("%s: %s of %s %s, %.0f s",
					title, report.Count(done.Load()), report.Count(total), things,
					time.Since(began).Seconds())
			}
		}
	})
	return func() {
		close(stopped)
		watching.Wait()
		p.printf("%s: %s of %s %s in %.1f s",
			title, report.Count(done.Load()), report.Count(total), things, time.Since(began).Seconds())
	}
}
