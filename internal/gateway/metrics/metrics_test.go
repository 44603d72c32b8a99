package metrics_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/metrics"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/store/storetest"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

var server *testpostgres.Server

func TestMain(m *testing.M) { os.Exit(testpostgres.Run(m, &server)) }

// gateway is a database with a clock that tests move.
type gateway struct {
	*store.Store
	db        *sql.DB
	now       time.Time
	publisher int64
	client    int64
}

func onBoth(t *testing.T, test func(t *testing.T, g *gateway)) {
	t.Helper()
	storetest.OnBoth(t, server, func(t *testing.T, d storetest.Database) {
		g := &gateway{now: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)}
		var err error
		g.Store, err = store.Open(t.Context(), store.Config{Address: d.Address,
			Limits: store.Limits{OpenPerClient: 100, OpenPerPublisher: 100}, Now: func() time.Time { return g.now }})
		require.NoError(t, err)
		t.Cleanup(func() { _ = g.Store.Close() }) // a test can close it first
		g.db = d.Open(t)
		g.publisher, g.client = storetest.Fill(t, g.Store)
		test(t, g)
	})
}

// open opens a negotiation with an offer of the publisher.
func (g *gateway) open(t *testing.T) string {
	t.Helper()
	result, err := storetest.Decided(t.Context(), respond(engine.Negotiating))(
		g.BeginCreation(t.Context(), store.Creation{Client: g.client,
			Proposals: []store.Proposal{{Publisher: g.publisher, Terms: json.RawMessage(`{}`)}}}))
	require.NoError(t, err)
	return result.Negotiations[0].ID
}

func respond(status engine.Status) func([]store.State) (store.Outcome, error) {
	return func(states []store.State) (store.Outcome, error) {
		d := store.Update{Status: status, Rounds: []store.Round{{Actor: engine.PartyClient, Action: "propose"},
			{Actor: engine.PartyPublisher, Action: string(status)}}}
		if status == engine.Negotiating {
			d.Terms, d.OfferBy = json.RawMessage(`{"price_per_fetch_micro":1800}`), engine.PartyPublisher
			d.Deadline = states[0].Now.Add(time.Hour)
		}
		return store.Outcome{Updates: []store.Update{d}}, nil
	}
}

func get(t *testing.T, handler http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder
}

// scrape returns a gateway's metrics as Prometheus reads them.
func scrape(t *testing.T, m *metrics.Metrics) map[string]float64 {
	t.Helper()
	answer := get(t, m.Handler(), metrics.MetricsPath)
	require.Equal(t, http.StatusOK, answer.Code)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	require.NoError(t, err)
	values := map[string]float64{}
	for name, family := range families {
		if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") {
			continue
		}
		require.NotEmpty(t, family.GetHelp(), name)
		require.Len(t, family.GetMetric(), 1, name)
		metric := family.GetMetric()[0]
		if strings.HasSuffix(name, "_total") {
			require.NotNil(t, metric.GetCounter(), name)
		}
		values[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
	}
	return values
}

// The nine metrics match the database, also after a restart.
func TestMetricsAreThoseOfTheDatabase(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		m := metrics.New(metrics.Config{Store: g.Store, MaxAge: time.Nanosecond})
		require.Equal(t, map[string]float64{
			"negotiations_started_total": 0, "negotiations_accepted_total": 0, "negotiations_rejected_total": 0,
			"negotiations_timeout_total": 0, "avg_rounds_to_agreement": 0, "avg_negotiation_duration_seconds": 0,
			"llm_requests_total": 0, "llm_tokens_used_total": 0, "llm_errors_total": 0,
		}, scrape(t, m))

		accepted, rejected, late := g.open(t), g.open(t), g.open(t)
		g.now = g.now.Add(10 * time.Second)
		_, err := storetest.Decided(t.Context(), respond(engine.Negotiating))(
			g.BeginRound(t.Context(), store.RoundRequest{Negotiations: []string{accepted}}))
		require.NoError(t, err)
		_, err = storetest.Decided(t.Context(), respond(engine.Rejected))(
			g.BeginRound(t.Context(), store.RoundRequest{Negotiations: []string{rejected}}))
		require.NoError(t, err)
		g.now = g.now.Add(10 * time.Second)
		_, err = storetest.Decided(t.Context(), func(states []store.State) (store.Outcome, error) {
			return store.Outcome{Updates: []store.Update{states[0].Accept(store.Terms{PriceMicro: 1800})}}, nil
		})(
			g.BeginRound(t.Context(), store.RoundRequest{Negotiations: []string{accepted}}))
		require.NoError(t, err)
		n, err := g.Negotiation(t.Context(), late)
		require.NoError(t, err)
		g.now = n.InitiatedAt.Add(time.Hour)
		_, err = g.Sweep(t.Context(), store.MaxSweep)
		require.NoError(t, err)
		g.open(t)

		m.ModelCalled(100, nil)
		m.ModelCalled(20, errors.New("no answer"))
		want := map[string]float64{
			"negotiations_started_total": 4, "negotiations_accepted_total": 1, "negotiations_rejected_total": 1,
			"negotiations_timeout_total": 1, "avg_rounds_to_agreement": 3,
			"avg_negotiation_duration_seconds": (20.0 + 10 + 3600) / 3,
			"llm_requests_total":               2, "llm_tokens_used_total": 120, "llm_errors_total": 1,
		}
		require.Equal(t, want, scrape(t, m))
		want["llm_requests_total"], want["llm_tokens_used_total"], want["llm_errors_total"] = 0, 0, 0
		cached := metrics.New(metrics.Config{Store: g.Store, MaxAge: time.Hour})
		require.Equal(t, want, scrape(t, cached))
		g.open(t)
		require.Equal(t, want, scrape(t, cached), "the figures are not older than MaxAge")
	})
}

// A process that reads the figures repeatedly counts each negotiation once, whenever it ended.
func TestEndedNegotiationsCountOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		m := metrics.New(metrics.Config{Store: g.Store, MaxAge: time.Nanosecond})
		for ended := range 8 {
			id := g.open(t)
			values := scrape(t, m)
			require.EqualValues(t, ended+1, values["negotiations_started_total"])
			require.EqualValues(t, ended, values["negotiations_rejected_total"])
			g.now = g.now.Add(2 * time.Minute)
			_, err := storetest.Decided(t.Context(), respond(engine.Rejected))(
				g.BeginRound(t.Context(), store.RoundRequest{Negotiations: []string{id}}))
			require.NoError(t, err)
			values = scrape(t, m)
			require.EqualValues(t, ended+1, values["negotiations_started_total"])
			require.EqualValues(t, ended+1, values["negotiations_rejected_total"])
			require.EqualValues(t, 120, values["avg_negotiation_duration_seconds"])
		}
	})
}

func TestReadinessChecksTheDatabase(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		var log bytes.Buffer
		m := metrics.New(metrics.Config{Store: g.Store, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		require.JSONEq(t, `{"status":"ready"}`, get(t, m.Handler(), metrics.ReadinessPath).Body.String())
		require.Equal(t, http.StatusMethodNotAllowed, func() int {
			recorder := httptest.NewRecorder()
			m.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, metrics.ReadinessPath, nil))
			return recorder.Code
		}())

		_, err := g.db.Exec(`UPDATE gateway_schema_version SET version_id = 0`)
		require.NoError(t, err)
		answer := get(t, m.Handler(), metrics.ReadinessPath)
		require.Equal(t, http.StatusServiceUnavailable, answer.Code)
		require.JSONEq(t, `{"status":"not ready","problem":"database: `+store.ErrOldSchema.Error()+`"}`,
			answer.Body.String())

		require.NoError(t, g.Store.Close())
		answer = get(t, m.Handler(), metrics.ReadinessPath)
		require.Equal(t, http.StatusServiceUnavailable, answer.Code)
		require.JSONEq(t, `{"status":"not ready","problem":"database: no answer"}`, answer.Body.String())
		require.Regexp(t, "database is closed|closed pool", log.String())
		require.Equal(t, http.StatusOK, get(t, m.Handler(), metrics.LivenessPath).Code)
		// The other metrics are still there.
		answer = get(t, m.Handler(), metrics.MetricsPath)
		require.Equal(t, http.StatusOK, answer.Code)
		require.Contains(t, answer.Body.String(), "llm_requests_total 0")
		require.NotContains(t, answer.Body.String(), "negotiations_started_total")

		m.Stopping()
		require.Contains(t, get(t, m.Handler(), metrics.ReadinessPath).Body.String(), "process: stopping")
	})
}

// Each request creates a span with the route and status, but no secrets.
func TestRequestsAreTraced(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /negotiations/{id}", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})
	request := httptest.NewRequest(http.MethodGet, "/negotiations/7?key=secret-in-query", nil)
	request.Header.Set("Authorization", "Bearer secret-in-header")
	request.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	metrics.Trace(provider, mux).ServeHTTP(httptest.NewRecorder(), request)
	require.Len(t, spans.Ended(), 1)
	span := spans.Ended()[0]
	require.Equal(t, "GET /negotiations/{id}", span.Name())
	require.False(t, span.Parent().IsValid(), "a client does not decide about the trace")
	require.Len(t, span.Links(), 1)
	attributes := map[string]string{}
	for _, a := range span.Attributes() {
		attributes[string(a.Key)] = a.Value.String()
		require.NotContains(t, a.Value.String(), "secret")
	}
	require.Equal(t, "418", attributes["http.response.status_code"])
	require.Equal(t, "/negotiations/{id}", attributes["http.route"])
}
