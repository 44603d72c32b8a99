// Package metrics reports the state of a gateway: metrics in the form of Prometheus, liveness and readiness
// over HTTP, and OpenTelemetry spans of requests.
//
// The metrics of negotiations are computed from the database, so they survive restarts. Every process on one
// database reports the same values: in a query over several processes use max, not sum. They are at most
// [Config].MaxAge old, because computing them reads every negotiation. The metrics of language models count
// the calls of this process since its start.
package metrics
