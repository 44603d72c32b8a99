// Package rest has the gateway's HTTP APIs: [Negotiation] for negotiations and their management, and
// [Licensing] for licences. Both describe themselves at /openapi.json (OpenAPI 3.1).
//
//	server := rest.NewServer(rest.Negotiation(rest.Config{Service: s, Authenticator: a}))
//	err := server.Serve(listener)
//
// Every error is a problem of RFC 9457, whose type is urn:haggle:problem: and a code of package service. An
// invalid request has the status 422 and the field in errors[].location. The responses with Retry-After have
// this header in the description.
//
// POST requests that create or decide take the header Idempotency-Key: a repeated request with the same key
// gets the first answer, except that create-key answers 409. All documents are read strictly: unknown and
// duplicate fields are errors.
package rest
