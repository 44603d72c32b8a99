package jsonrpc

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Faults are a server's mistakes with HTTP requests, so that clients can be tested against it. WebSockets are not
// affected. The zero value does nothing wrong.
type Faults struct {
	// LoseRequests is the share (0 to 1) of requests refused with HTTP status 503 and not executed.
	LoseRequests float64
	// LoseAnswers is the share of the remaining requests executed but left unanswered: the connection ends
	// without a response.
	LoseAnswers float64
	// Delay is the time until each response.
	Delay time.Duration
	// Seed seeds the random choices to make tests repeatable.
	Seed uint64
}

// faults holds a server's current faults.
type faults struct {
	lock sync.Mutex
	Faults
	random *rand.Rand
}

// SetFaults sets the faults of later requests.
func (s *Server) SetFaults(of Faults) {
	s.faults.lock.Lock()
	defer s.faults.lock.Unlock()
	s.faults.Faults, s.faults.random = of, rand.New(rand.NewPCG(of.Seed, 0))
}

// choose returns the faults for a request.
func (f *faults) choose() (loseRequest, loseAnswer bool, delay time.Duration) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.Faults == (Faults{}) {
		return false, false, 0
	}
	loseRequest = f.random.Float64() < f.LoseRequests
	return loseRequest, f.random.Float64() < f.LoseAnswers, f.Delay
}

// serveFaulty serves requests at a port, injecting the faults.
func (s *Server) serveFaulty(w http.ResponseWriter, r *http.Request) {
	loseRequest, loseAnswer, delay := s.faults.choose()
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
	if loseRequest {
		http.Error(w, "fault: request lost", http.StatusServiceUnavailable)
		return
	}
	if loseAnswer {
		s.serveRequests(discarded{http.Header{}}, r)
		panic(http.ErrAbortHandler)
	}
	s.serveRequests(w, r)
}

// discarded is an unread response.
type discarded struct{ header http.Header }

// Header implements http.ResponseWriter.
func (d discarded) Header() http.Header { return d.header }

// Write implements http.ResponseWriter.
func (discarded) Write(data []byte) (int, error) { return len(data), nil }

// WriteHeader implements http.ResponseWriter.
func (discarded) WriteHeader(int) {}
