// Package rest implements the gateway's HTTP APIs: [Negotiation] for negotiations and their management, and
// [Licensing] for licenses. Both describe themselves at /openapi.json (OpenAPI 3.1).
//
//	server := rest.NewServer(rest.Negotiation(rest.Config{Service: s, Authenticator: a}))
//	err := server.Serve(listener)
//
// Every error is an RFC 9457 problem. The type is urn:haggle:problem: and a code from package service. An
// invalid request gets the status 422 and the field in errors[].location. The description lists Retry-After
// for all responses with this header.
//
// POST operations that create or decide take the header Idempotency-Key: repeating them with the same key
// returns the first response, except that create-key returns 409. All documents are read strictly: unknown
// and duplicate fields are errors.
package rest
