package gatewayload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/internal/lab/report"
)

// sender sends the requests for the workers, which negotiate over HTTP.
type sender struct {
	*seeds
	http    *http.Client
	workers []*worker
	// clients holds the positions of the clients that open negotiations. The last clients are kept for the
	// limits.
	mutex    sync.Mutex
	clients  []int
	next     int
	findings report.Findings
}

// worker negotiates with one gateway, one request at a time.
type worker struct {
	*sender
	url          string
	connection   connection
	at           int
	open         *tracked
	negotiations []*tracked
	// refused counts responses with status 429.
	refused int
}

func newSender(gateways []*gateway, s *seeds, workers int) *sender {
	c := &sender{seeds: s, clients: rand.Perm(s.clients - 2*limitTries)}
	c.http = &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: workers, DisableCompression: true}, Timeout: time.Minute,
	}
	for at := range workers {
		g := gateways[at%len(gateways)]
		c.workers = append(c.workers, &worker{
			sender: c, url: g.url, connection: connection{address: strings.TrimPrefix(g.url, "http://")},
		})
	}
	return c
}

// client returns the next client's position: all clients negotiate equally often.
func (c *sender) client() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.next++
	return c.clients[c.next%len(c.clients)]
}

// answer is a response from the gateway.
type answer struct {
	status int
	body   []byte
	header http.Header
}

// post sends a request as the client at a position, and returns the response with the total response time.
func (c *sender) post(
	ctx context.Context, do func(*http.Request) (*http.Response, error), url string, client int, body string,
) (a answer, took time.Duration, err error) {
	key, err := uuid.NewRandom()
	if err != nil {
		return a, 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return a, 0, err
	}
	r.Header.Set("Authorization", "Bearer "+c.keys[client])
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", key.String())
	began := time.Now()
	response, err := do(r)
	if err != nil {
		return a, 0, err
	}
	defer response.Body.Close()
	a.status, a.header = response.StatusCode, response.Header
	a.body, err = io.ReadAll(response.Body)
	return a, time.Since(began), err
}

// advance takes the next step of the sequence. A creation refused by a limit does not count as a step.
func (w *worker) advance(ctx context.Context) (done operation, took time.Duration, err error) {
	s := sequence[w.at]
	client, publisher := 0, ""
	if s.operation == create {
		client, publisher = w.client(), hostname(rand.IntN(w.publishers))
	} else {
		client = w.open.client
	}
	path, body := s.request(publisher, w.open)
	a, took, err := w.post(ctx, w.connection.do, w.url+path, client, body)
	if err != nil {
		return 0, 0, err
	}
	if s.operation == create && a.status == http.StatusTooManyRequests {
		w.refused++
		return operations, took, nil
	}
	n, err := decode(a, s)
	if err != nil {
		return 0, 0, err
	}
	if s.operation == create {
		w.open = &tracked{id: n.ID, client: client}
		w.negotiations = append(w.negotiations, w.open)
	}
	if n.ID != w.open.id || n.Round != w.open.rounds+1 {
		return 0, 0, fmt.Errorf("%s: answer has round %d of negotiation %s instead of round %d of %s",
			operationNames[s.operation], n.Round, n.ID, w.open.rounds+1, w.open.id)
	}
	w.open.record(s.operation, n)
	w.at = (w.at + 1) % len(sequence)
	return s.operation, took, nil
}

// negotiation contains the response fields that workers read.
type negotiation struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Round  int    `json:"current_round"`
}

// decode returns the negotiation in a response. The sequence matches pgbench's script, so any other kind of
// response is an error.
func decode(a answer, s step) (negotiation, error) {
	var got struct {
		Action      string      `json:"action"`
		Negotiation negotiation `json:"negotiation"`
	}
	want := map[bool]int{true: http.StatusCreated, false: http.StatusOK}[s.operation == create]
	if a.status == want {
		if err := json.Unmarshal(a.body, &got); err != nil {
			return got.Negotiation, fmt.Errorf("%s: %w", operationNames[s.operation], err)
		}
	}
	if got.Action != s.action || got.Negotiation.Status != s.status {
		return got.Negotiation, fmt.Errorf("%s: status %d, %s; want %s", operationNames[s.operation], a.status,
			bytes.TrimSpace(a.body), s.action)
	}
	return got.Negotiation, nil
}

func (d *tracked) record(done operation, n negotiation) {
	d.status = n.Status
	d.rounds++
	d.rows++
	if done != accept {
		d.rows++
	}
}

// measure lets all workers negotiate for a time. It waits for the responses to all started requests.
func (c *sender) measure(ctx context.Context, lasting time.Duration) (w window, err error) {
	samples := make([]window, len(c.workers))
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for at, worker := range c.workers {
		group.Go(func() error {
			for time.Since(began) < lasting {
				done, took, err := worker.advance(ctx)
				if err != nil {
					return err
				}
				if done < operations {
					samples[at].add(done, took)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return w, err
	}
	w.lasted = time.Since(began)
	for _, s := range samples {
		w.merge(s)
	}
	return w, nil
}

// drain continues until each worker has ended the current negotiation.
func (c *sender) drain(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, worker := range c.workers {
		group.Go(func() error {
			for worker.open != nil && worker.open.status == "negotiating" {
				if _, _, err := worker.advance(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// negotiations returns the negotiations of all workers.
func (c *sender) negotiations() (all []*tracked) {
	for _, w := range c.workers {
		all = append(all, w.negotiations...)
	}
	return all
}

// refusals returns the number of creations refused by a limit during the measurements.
func (c *sender) refusals() (count int) {
	for _, w := range c.workers {
		count += w.refused
	}
	return count
}

// window is a measurement's result.
type window struct {
	lasted time.Duration
	// perSecond is the rate that pgbench reports; 0 for the gateway.
	perSecond float64
	// took holds the request or transaction times for each operation.
	took [operations][]time.Duration
	used processorTime
}

func (w *window) add(done operation, took time.Duration) { w.took[done] = append(w.took[done], took) }

func (w *window) merge(other window) {
	for at := range w.took {
		w.took[at] = append(w.took[at], other.took[at]...)
	}
}

func (w *window) count() (all int) {
	for _, took := range w.took {
		all += len(took)
	}
	return all
}

func (w *window) rate() float64 {
	if w.perSecond > 0 {
		return w.perSecond
	}
	return float64(w.count()) / w.lasted.Seconds()
}

// sorted returns the times of all operations in increasing order.
func (w *window) sorted() []time.Duration {
	return slices.Sorted(slices.Values(slices.Concat(w.took[:]...)))
}

// processorTime is the processor time in a measurement, by the part that used it.
type processorTime struct{ sender, gateways, server time.Duration }

func (p processorTime) minus(other processorTime) processorTime {
	return processorTime{p.sender - other.sender, p.gateways - other.gateways, p.server - other.server}
}

func (p processorTime) plus(other processorTime) processorTime {
	return processorTime{p.sender + other.sender, p.gateways + other.gateways, p.server + other.server}
}
