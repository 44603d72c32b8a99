package haggle

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// instrumented is a client with a scripted first node and a healthy second node, including telemetry.
type instrumented struct {
	client  *Client
	spans   *tracetest.SpanRecorder
	metrics *sdkmetric.ManualReader
	log     *bytes.Buffer
}

func instrument(t *testing.T, first http.HandlerFunc) *instrumented {
	t.Helper()
	one := httptest.NewServer(first)
	t.Cleanup(one.Close)
	two := httptest.NewServer(http.HandlerFunc(answering(`"result":"4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY"`)))
	t.Cleanup(two.Close)
	o := &instrumented{spans: tracetest.NewSpanRecorder(), metrics: sdkmetric.NewManualReader(),
		log: new(bytes.Buffer)}
	client, err := NewClient(Config{
		Endpoint: one.URL + "/sekrit", Fallbacks: []string{two.URL + "/?key=sekrit"},
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(o.spans)),
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(o.metrics)),
		Logger:         slog.New(slog.NewTextHandler(o.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	o.client = client
	return o
}

// read returns the metrics by their names.
func (o *instrumented) read(t *testing.T) map[string]metricdata.Aggregation {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, o.metrics.Collect(t.Context(), &all))
	found := make(map[string]metricdata.Aggregation)
	for _, scope := range all.ScopeMetrics {
		assert.Equal(t, telemetryScope, scope.Scope.Name)
		for _, metric := range scope.Metrics {
			found[metric.Name] = metric.Data
		}
	}
	return found
}

func textOf(set attribute.Set, key attribute.Key) string {
	found, _ := set.Value(key)
	return found.String()
}

func TestEachAnswerIsMeasured(t *testing.T) {
	o := instrument(t, func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	_, err := o.client.RPC().GetGenesisHash(t.Context())
	require.NoError(t, err)

	ended := o.spans.Ended()
	require.Len(t, ended, 1)
	assert.Equal(t, "getGenesisHash", ended[0].Name())
	assert.Equal(t, codes.Unset, ended[0].Status().Code)
	events := ended[0].Events()
	require.Len(t, events, 2)
	assert.Equal(t, "503", textOf(attribute.NewSet(events[0].Attributes...), attributeError))
	assert.Empty(t, textOf(attribute.NewSet(events[1].Attributes...), attributeError))

	metrics := o.read(t)
	calls := metrics["rpc.client.call.duration"].(metricdata.Histogram[float64]).DataPoints
	require.Len(t, calls, 1)
	assert.EqualValues(t, 1, calls[0].Count)
	assert.Equal(t, "getGenesisHash", textOf(calls[0].Attributes, attributeMethod))
	var answers []string
	for _, point := range metrics["haggle.node.requests"].(metricdata.Sum[int64]).DataPoints {
		assert.EqualValues(t, 1, point.Value)
		answers = append(answers, textOf(point.Attributes, attributeError))
	}
	assert.ElementsMatch(t, []string{"503", ""}, answers)
	var resting int64
	nodes := metrics["haggle.node.resting"].(metricdata.Gauge[int64]).DataPoints
	for _, node := range nodes {
		resting += node.Value
	}
	assert.Len(t, nodes, 2)
	assert.EqualValues(t, 1, resting)
	assert.Contains(t, o.log.String(), "a node fails")
	assert.NotContains(t, o.log.String(), "sekrit")
}

func TestFailedCallIsMeasured(t *testing.T) {
	o := instrument(t, answering(`"result":"4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY"`))
	_, err := o.client.RPC().GetSlot(t.Context(), rpc.CommitmentConfirmed)
	require.Error(t, err)
	ended := o.spans.Ended()
	require.Len(t, ended, 1)
	assert.Equal(t, codes.Error, ended[0].Status().Code)
	assert.Equal(t, "other", textOf(attribute.NewSet(ended[0].Attributes()...), attributeError))
	assert.NotContains(t, ended[0].Status().Description, "sekrit")
}

func TestOutcomeOfAnActionIsMeasured(t *testing.T) {
	refused := &protocol.ProgramError{Code: protocol.ErrNotYourTurn, Name: "NotYourTurn"}
	for _, c := range []struct {
		err           error
		outcome, kind string
	}{
		{nil, "confirmed", ""}, {transaction.ErrDetailsUnavailable, "confirmed", ""},
		{refused, "not sent", "NotYourTurn"},
		{&transaction.Error{Signature: solana.Signature{1}}, "failed", "other"},
		{transaction.ErrExpired, "expired", "other"},
		{&transaction.UnknownOutcomeError{Cause: context.DeadlineExceeded}, "unknown", "deadline_exceeded"},
		{unsent(errors.New("the signer is asleep")), "not sent", "other"},
		{errors.New("the connection is reset"), "unknown", "other"},
	} {
		o := instrument(t, answering(`"result":7`))
		ctx, end := o.client.beginAction(t.Context(), "submit_offer", protocol.ProgramID)
		_, inner := o.client.telemetry.Begin(ctx, "getSlot")
		inner.End(nil)
		end(c.err)
		ended := o.spans.Ended()
		require.Len(t, ended, 2)
		assert.Equal(t, "haggle.submit_offer", ended[1].Name())
		assert.Equal(t, ended[1].SpanContext().SpanID(), ended[0].Parent().SpanID(),
			"a call's span is in its action's")
		attributes := attribute.NewSet(ended[1].Attributes()...)
		assert.Equal(t, c.outcome, textOf(attributes, attributeOutcome))
		assert.Equal(t, c.kind, textOf(attributes, attributeError))
		assert.Equal(t, protocol.ProgramAddress, textOf(attributes, attributeNegotiation))
		assert.Equal(t, c.outcome != "confirmed", ended[1].Status().Code == codes.Error)
		points := o.read(t)["haggle.action.duration"].(metricdata.Histogram[float64]).DataPoints
		require.Len(t, points, 1)
		assert.Equal(t, c.outcome, textOf(points[0].Attributes, attributeOutcome))
		assert.Equal(t, "submit_offer", textOf(points[0].Attributes, attributeAction))
	}
}

func TestClosedClientIsNotMeasured(t *testing.T) {
	o := instrument(t, answering(`"result":7`))
	assert.Contains(t, o.read(t), "haggle.node.lag")
	require.NoError(t, o.client.Close())
	assert.NotContains(t, o.read(t), "haggle.node.lag")
}

func TestTelemetryIsOptional(t *testing.T) {
	client, err := NewClient(Config{Endpoint: "http://localhost"})
	require.NoError(t, err)
	assert.Nil(t, client.telemetry)
	_, end := client.beginAction(t.Context(), "submit_offer", protocol.ProgramID)
	end(nil)
	require.NoError(t, client.Close())
}
