// Package telemetry exports traces and metrics by OTLP over HTTP if the environment asks for it.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// The environment variables defined by the OpenTelemetry specification for the endpoints. The exporters read
// these and all other OTEL_EXPORTER_OTLP_* variables themselves.
const (
	endpoint        = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpoint  = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	metricsEndpoint = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
	disabled        = "OTEL_SDK_DISABLED"
)

// shutdownLimit is how long the last traces and metrics may take when a command ends.
const shutdownLimit = 5 * time.Second

// Exporters export what the client records.
type Exporters struct {
	traces  *sdktrace.TracerProvider
	metrics *sdkmetric.MeterProvider
}

// FromEnvironment returns the exporters whose endpoints the environment sets.
func FromEnvironment(ctx context.Context) (*Exporters, error) {
	e := &Exporters{}
	if os.Getenv(disabled) == "true" {
		return e, nil
	}
	described, err := resource.New(ctx, resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	if os.Getenv(endpoint) != "" || os.Getenv(tracesEndpoint) != "" {
		exporter, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, fmt.Errorf("telemetry: traces: %w", err)
		}
		e.traces = sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(described))
	}
	if os.Getenv(endpoint) != "" || os.Getenv(metricsEndpoint) != "" {
		exporter, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("telemetry: metrics: %w", err), e.Close())
		}
		e.metrics = sdkmetric.NewMeterProvider(
			sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)), sdkmetric.WithResource(described))
	}
	return e, nil
}

// TracerProvider returns the provider of the exported traces; nil if traces are not exported.
func (e *Exporters) TracerProvider() trace.TracerProvider {
	if e.traces == nil {
		return nil
	}
	return e.traces
}

// MeterProvider returns the provider of the exported metrics; nil if metrics are not exported.
func (e *Exporters) MeterProvider() metric.MeterProvider {
	if e.metrics == nil {
		return nil
	}
	return e.metrics
}

// Close sends the remaining traces and metrics, for at most 5 s.
func (e *Exporters) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	var failures []error
	if e.traces != nil {
		failures = append(failures, e.traces.Shutdown(ctx))
	}
	if e.metrics != nil {
		failures = append(failures, e.metrics.Shutdown(ctx))
	}
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	return nil
}
