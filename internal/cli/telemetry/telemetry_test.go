package telemetry

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNothingIsExportedWithoutAnEndpoint(t *testing.T) {
	for _, name := range []string{endpoint, tracesEndpoint, metricsEndpoint} {
		t.Setenv(name, "")
	}
	exporters, err := FromEnvironment(t.Context())
	require.NoError(t, err)
	assert.Nil(t, exporters.TracerProvider())
	assert.Nil(t, exporters.MeterProvider())
	require.NoError(t, exporters.Close())
}

func TestTracesAndMetricsReachTheEndpoint(t *testing.T) {
	var lock sync.Mutex
	received := map[string]bool{}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		received[r.URL.Path] = true
	}))
	defer collector.Close()
	t.Setenv(endpoint, collector.URL)

	exporters, err := FromEnvironment(t.Context())
	require.NoError(t, err)
	_, span := exporters.TracerProvider().Tracer("test").Start(t.Context(), "haggle.submit_offer")
	span.End()
	counter, err := exporters.MeterProvider().Meter("test").Int64Counter("haggle.node.requests")
	require.NoError(t, err)
	counter.Add(t.Context(), 1)
	require.NoError(t, exporters.Close(), "closing sends the remaining data")

	lock.Lock()
	defer lock.Unlock()
	assert.Equal(t, map[string]bool{"/v1/traces": true, "/v1/metrics": true}, received)
}

func TestDisabledByTheEnvironment(t *testing.T) {
	t.Setenv(endpoint, "http://localhost:1")
	t.Setenv(disabled, "true")
	exporters, err := FromEnvironment(t.Context())
	require.NoError(t, err)
	assert.Nil(t, exporters.TracerProvider())
}
