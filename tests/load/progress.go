package load

import (
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// progressEvery is how often something that takes long says how far it is.
const progressEvery = 2 * time.Second

type progress struct {
	mutex sync.Mutex
	out   io.Writer
}

func (p *progress) say(format string, arguments ...any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	fmt.Fprintf(p.out, format+"\n", arguments...)
}

// watch says regularly how much of something is done, until the function that it returns is called.
func (p *progress) watch(title, things string, total int, done *atomic.Int64) (stop func()) {
	began := time.Now()
	stopped := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-stopped:
				return
			case <-time.After(progressEvery):
				p.say("%s: %s of %s %s, %.0f s", title, grouped(done.Load()), grouped(int64(total)), things, time.Since(began).Seconds())
			}
		}
	})
	return func() {
		close(stopped)
		watching.Wait()
		p.say("%s: %s of %s %s in %.1f s", title, grouped(done.Load()), grouped(int64(total)), things, time.Since(began).Seconds())
	}
}

// grouped writes a number with a comma between thousands.
func grouped[N int | int64 | uint64](number N) string {
	digits := strconv.FormatUint(uint64(number), 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
