package metrics

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
)

// Trace returns a handler with a span for each request, named for the route. A trace that a client begins is
// linked, not continued: clients do not decide which requests are recorded. If provider is nil, it returns
// next. See package telemetry for the provider that the environment sets.
func Trace(provider trace.TracerProvider, next http.Handler) http.Handler {
	if provider == nil {
		return next
	}
	routed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		// The router has set the pattern by now. otelhttp uses it in the name only.
		if _, route, found := strings.Cut(r.Pattern, " "); found {
			trace.SpanFromContext(r.Context()).SetAttributes(semconv.HTTPRoute(route))
		}
	})
	return otelhttp.NewHandler(routed, "request",
		otelhttp.WithTracerProvider(provider), otelhttp.WithMeterProvider(metricnoop.NewMeterProvider()),
		otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithPublicEndpointFn(func(*http.Request) bool { return true }))
}
