package metrics

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// Config configures the metrics. Zero values select the defaults.
type Config struct {
	Store *store.Store
	// MaxAge is how long negotiation figures are reported before they are queried again. The default is 15 s.
	MaxAge time.Duration
	// Logger receives errors from queries and the readiness check. If nil, they are discarded.
	Logger *slog.Logger
}

const (
	defaultMaxAge = 15 * time.Second
	// queryLimit ends a query of the figures.
	queryLimit = 10 * time.Second
)

// Metrics holds the metrics for a process. Its methods are safe for concurrent use.
type Metrics struct {
	config    Config
	registry  *prometheus.Registry
	stopping  atomic.Bool
	requests  prometheus.Counter
	tokens    prometheus.Counter
	llmErrors prometheus.Counter
}

// New returns metrics for a gateway, the Go runtime and the process.
func New(config Config) *Metrics {
	config.MaxAge = cmp.Or(config.MaxAge, defaultMaxAge)
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name,
			Help: help + " since the start of the process."})
	}
	m := &Metrics{
		config: config, registry: prometheus.NewRegistry(),
		requests:  counter("llm_requests_total", "Calls of language models"),
		tokens:    counter("llm_tokens_used_total", "Tokens that language models used"),
		llmErrors: counter("llm_errors_total", "Failed calls of language models"),
	}
	m.registry.MustRegister(m.requests, m.tokens, m.llmErrors, &negotiations{config: config, settledUntil: time.Unix(0, 0)},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// ModelCalled counts a language model call and the tokens used, which must not be negative. A call with an
// error counts as failed, too.
func (m *Metrics) ModelCalled(tokens int64, err error) {
	m.requests.Inc()
	m.tokens.Add(float64(tokens))
	if err != nil {
		m.llmErrors.Inc()
	}
}

// shared ends the help text for metrics that every process reports.
const shared = " in the database, the same in every process."

// The metrics of negotiations.
var (
	started = prometheus.NewDesc("negotiations_started_total", "Negotiations"+shared, nil, nil)
	ended   = map[engine.Status]*prometheus.Desc{
		engine.Accepted: prometheus.NewDesc("negotiations_accepted_total",
			"Accepted negotiations"+shared, nil, nil),
		engine.Rejected: prometheus.NewDesc("negotiations_rejected_total",
			"Rejected negotiations"+shared, nil, nil),
		engine.TimedOut: prometheus.NewDesc("negotiations_timeout_total",
			"Negotiations that ended after their deadline"+shared, nil, nil),
	}
	averageRounds = prometheus.NewDesc("avg_rounds_to_agreement",
		"Mean number of rounds of the accepted negotiations"+shared+" 0 if there is none.", nil, nil)
	averageSeconds = prometheus.NewDesc("avg_negotiation_duration_seconds",
		"Mean time from the start to the end of the ended negotiations"+shared+" 0 if there is none.", nil, nil)
)

// negotiations computes the metrics of negotiations.
type negotiations struct {
	config Config

	lock   sync.Mutex
	totals []store.Total
	read   time.Time
	// settled holds figures for the negotiations that ended until settledUntil. They no longer change.
	settled      []store.Total
	settledUntil time.Time
}

// settling is the age after which figures of ended negotiations are final. It exceeds the longest transaction
// plus the difference between the gateways' clocks, so no transaction adds an older end.
const settling = 5 * time.Minute

// Describe implements [prometheus.Collector].
func (n *negotiations) Describe(out chan<- *prometheus.Desc) {
	out <- started
	for _, d := range ended {
		out <- d
	}
	out <- averageRounds
	out <- averageSeconds
}

// Collect implements [prometheus.Collector]. If the query fails, it reports no value.
func (n *negotiations) Collect(out chan<- prometheus.Metric) {
	totals, err := n.figures()
	if err != nil {
		out <- prometheus.NewInvalidMetric(started, err)
		return
	}
	counts := map[engine.Status]int64{}
	var all, final, rounds int64
	var duration time.Duration
	for _, t := range totals {
		all += t.Count
		counts[t.Status] = t.Count
		if t.Status == engine.Accepted {
			rounds = t.Rounds
		}
		if t.Status.IsFinal() {
			final += t.Count
			duration += t.Duration
		}
	}
	out <- prometheus.MustNewConstMetric(started, prometheus.CounterValue, float64(all))
	for status, d := range ended {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(counts[status]))
	}
	out <- prometheus.MustNewConstMetric(averageRounds, prometheus.GaugeValue,
		mean(float64(rounds), counts[engine.Accepted]))
	out <- prometheus.MustNewConstMetric(averageSeconds, prometheus.GaugeValue, mean(duration.Seconds(), final))
}

func mean(sum float64, count int64) float64 {
	if count == 0 {
		return 0
	}
	return sum / float64(count)
}

// figures returns figures at most MaxAge old. Concurrent calls wait for the same query.
func (n *negotiations) figures() ([]store.Total, error) {
	n.lock.Lock()
	defer n.lock.Unlock()
	if !n.read.IsZero() && time.Since(n.read) < n.config.MaxAge {
		return n.totals, nil
	}
	// The collector interface takes no context.
	ctx, cancel := context.WithTimeout(context.Background(), queryLimit)
	defer cancel()
	until := n.config.Store.Now().Add(-settling)
	if until.After(n.settledUntil) {
		ended, err := n.config.Store.EndedTotals(ctx, n.settledUntil, until)
		if err != nil {
			return nil, err
		}
		n.settled, n.settledUntil = sum(n.settled, ended), until
	}
	recent, err := n.config.Store.RecentTotals(ctx, n.settledUntil)
	if err != nil {
		return nil, err
	}
	n.totals, n.read = sum(n.settled, recent), time.Now()
	return n.totals, nil
}

// sum returns the sums of the figures of each status.
func sum(a, b []store.Total) []store.Total {
	sums := slices.Clone(a)
	for _, more := range b {
		at := slices.IndexFunc(sums, func(t store.Total) bool { return t.Status == more.Status })
		if at < 0 {
			sums = append(sums, more)
			continue
		}
		t := &sums[at]
		t.Count, t.Rounds, t.Duration = t.Count+more.Count, t.Rounds+more.Rounds, t.Duration+more.Duration
	}
	return sums
}
