// Package metrics reports a gateway's state: Prometheus metrics, liveness and readiness over HTTP, and
// OpenTelemetry spans of requests.
//
// The negotiation metrics are computed from the database, so they survive restarts. Every process on one
// database reports the same values: in a query over several processes use max, not sum. They are at most
// [Config].MaxAge old, because computing them reads every negotiation. The language model metrics count this
// process's calls since it started.
package metrics
