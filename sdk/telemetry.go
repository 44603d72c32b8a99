package haggle

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/gagliardetto/solana-go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// telemetryScope names the SDK to OpenTelemetry.
const telemetryScope = "github.com/haggle-protocol/haggle/sdk"

// Attributes of spans and metrics. Those that begin with rpc, server and error are OpenTelemetry's.
const (
	attributeSystem      = attribute.Key("rpc.system.name")
	attributeMethod      = attribute.Key("rpc.method")
	attributeServer      = attribute.Key("server.address")
	attributeError       = attribute.Key("error.type")
	attributeHedge       = attribute.Key("haggle.hedge")
	attributeAction      = attribute.Key("haggle.action")
	attributeNegotiation = attribute.Key("haggle.negotiation")
	attributeOutcome     = attribute.Key("haggle.outcome")
)

var systemIsJSONRPC = attributeSystem.String("jsonrpc")

// latencyBuckets are in seconds: a local chain responds within a millisecond, and a transaction may take a
// minute.
var latencyBuckets = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120}

// telemetry records spans and metrics. Nil records none.
type telemetry struct {
	tracer trace.Tracer
	meter  metric.Meter

	calls    metric.Float64Histogram
	attempts metric.Int64Counter
	actions  metric.Float64Histogram
	lag      metric.Int64ObservableGauge
	resting  metric.Int64ObservableGauge
	watching metric.Registration
}

// newTelemetry returns nil if there are no providers.
func newTelemetry(tracers trace.TracerProvider, meters metric.MeterProvider) (*telemetry, error) {
	if tracers == nil && meters == nil {
		return nil, nil
	}
	t := new(telemetry)
	if tracers != nil {
		t.tracer = tracers.Tracer(telemetryScope)
	}
	if meters == nil {
		return t, nil
	}
	t.meter = meters.Meter(telemetryScope)
	var failures [5]error
	t.calls, failures[0] = t.meter.Float64Histogram("rpc.client.call.duration", metric.WithUnit("s"),
		metric.WithDescription("How long JSON-RPC calls take, with everything that they are repeated for"),
		metric.WithExplicitBucketBoundaries(latencyBuckets...))
	t.attempts, failures[1] = t.meter.Int64Counter("haggle.node.requests", metric.WithUnit("{request}"),
		metric.WithDescription("Requests made of each node"))
	t.actions, failures[2] = t.meter.Float64Histogram("haggle.action.duration", metric.WithUnit("s"),
		metric.WithDescription("How long actions take until their outcome is known"),
		metric.WithExplicitBucketBoundaries(latencyBuckets...))
	t.lag, failures[3] = t.meter.Int64ObservableGauge("haggle.node.lag", metric.WithUnit("{slot}"),
		metric.WithDescription("How far each node was behind what had been seen when it last answered"))
	t.resting, failures[4] = t.meter.Int64ObservableGauge("haggle.node.resting", metric.WithUnit("{node}"),
		metric.WithDescription("1 for a node that rests, otherwise 0"))
	if err := errors.Join(failures[:]...); err != nil {
		return nil, fmt.Errorf("haggle: MeterProvider: %w", err)
	}
	return t, nil
}

// watch registers the measurement of the nodes' health, which runs whenever the metrics are read, until
// unwatch.
func (t *telemetry) watch(pool *rpcpool.Pool) (err error) {
	if t == nil || t.meter == nil {
		return nil
	}
	t.watching, err = t.meter.RegisterCallback(func(_ context.Context, observer metric.Observer) error {
		now := time.Now()
		for _, node := range pool.Health() {
			where := metric.WithAttributes(attributeServer.String(node.Host))
			observer.ObserveInt64(t.lag, int64(min(node.Lag, 1<<62)), where)
			var resting int64
			if node.Resting.After(now) {
				resting = 1
			}
			observer.ObserveInt64(t.resting, resting, where)
		}
		return nil
	}, t.lag, t.resting)
	if err != nil {
		return fmt.Errorf("haggle: MeterProvider: %w", err)
	}
	return nil
}

func (t *telemetry) unwatch() error {
	if t == nil || t.watching == nil {
		return nil
	}
	return t.watching.Unregister()
}

// callTelemetry is the telemetry for a JSON-RPC call.
type callTelemetry struct {
	*telemetry
	ctx    context.Context
	method string
	began  time.Time
	span   trace.Span
}

// Begin is called before each JSON-RPC call.
func (t *telemetry) Begin(ctx context.Context, method string) (context.Context, rpcpool.Observation) {
	call := &callTelemetry{telemetry: t, method: method, began: time.Now()}
	if t.tracer != nil {
		ctx, call.span = t.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(systemIsJSONRPC, attributeMethod.String(method)))
	}
	call.ctx = ctx
	return ctx, call
}

// Attempt is called for each node's response.
func (c *callTelemetry) Attempt(host string, took time.Duration, hedge bool, err error) {
	kind := errorType(err)
	if c.span != nil && c.span.IsRecording() {
		attributes := []attribute.KeyValue{attributeServer.String(host), attributeHedge.Bool(hedge),
			attribute.Float64("haggle.duration", took.Seconds())}
		if err != nil {
			attributes = append(attributes, attributeError.String(kind),
				attribute.String("error.message", err.Error()))
		}
		c.span.AddEvent("answer", trace.WithAttributes(attributes...))
	}
	if c.attempts != nil {
		attributes := []attribute.KeyValue{attributeServer.String(host), attributeMethod.String(c.method),
			attributeHedge.Bool(hedge)}
		if err != nil {
			attributes = append(attributes, attributeError.String(kind))
		}
		c.attempts.Add(c.ctx, 1, metric.WithAttributes(attributes...))
	}
}

// End is called with the result of the call.
func (c *callTelemetry) End(err error) {
	if c.span != nil {
		if err != nil {
			c.span.SetAttributes(attributeError.String(errorType(err)))
			c.span.SetStatus(codes.Error, err.Error())
		}
		c.span.End()
	}
	if c.calls != nil {
		attributes := []attribute.KeyValue{systemIsJSONRPC, attributeMethod.String(c.method)}
		if err != nil {
			attributes = append(attributes, attributeError.String(errorType(err)))
		}
		c.calls.Record(c.ctx, time.Since(c.began).Seconds(), metric.WithAttributes(attributes...))
	}
}

// errorType returns a broad kind of error; there are few kinds, because each is a separate time series.
func errorType(err error) string {
	var refusal *transaction.NodeError
	var network net.Error
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline_exceeded"
	case errors.As(err, &refusal):
		return strconv.Itoa(refusal.Code)
	case errors.Is(err, transaction.ErrBehind):
		return "behind"
	case errors.Is(err, transaction.ErrOtherCluster):
		return "other_cluster"
	case errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.As(err, &network):
		return "network"
	}
	return "other"
}

// beginAction begins an action's span. The caller passes the action's error to the returned function.
func (c *Client) beginAction(
	ctx context.Context, name string, negotiation solana.PublicKey,
) (context.Context, func(error)) {
	t := c.telemetry
	if t == nil {
		return ctx, func(error) {}
	}
	began := time.Now()
	var span trace.Span
	if t.tracer != nil {
		ctx, span = t.tracer.Start(ctx, "haggle."+name,
			trace.WithAttributes(attributeAction.String(name),
				attributeNegotiation.String(negotiation.String())))
	}
	return ctx, func(err error) {
		attributes := []attribute.KeyValue{attributeAction.String(name),
			attributeOutcome.String(transaction.OutcomeOf(err).String())}
		failed := transaction.OutcomeOf(err) != transaction.Confirmed
		if failed {
			attributes = append(attributes, attributeError.String(actionErrorType(err)))
		}
		if span != nil {
			span.SetAttributes(attributes...)
			if failed {
				span.SetStatus(codes.Error, err.Error())
			}
			span.End()
		}
		if t.actions != nil {
			t.actions.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(attributes...))
		}
	}
}

// actionErrorType returns the program's own name for an error, otherwise the result of errorType.
func actionErrorType(err error) string {
	var program *protocol.ProgramError
	if errors.As(err, &program) && program.Name != "" {
		return program.Name
	}
	return errorType(err)
}
