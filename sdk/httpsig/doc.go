// Package httpsig signs and verifies HTTP requests with Ed25519, by HTTP Message Signatures (RFC 9421).
//
// A client of the gateway authenticates with one of three [net/http.RoundTripper] values: [Transport] without
// an Agent signs each request with the key of a registered client, Transport with an Agent signs it by Web
// Bot Auth (draft-ietf-webbotauth-httpsig-protocol-00), and [BearerTransport] sends an API key.
//
// The package has the part of RFC 9421 that these need: requests, Ed25519, the derived components @method,
// @authority, @scheme, @target-uri, @request-target, @path and @query, fields, and members of dictionary
// fields (the parameter "key"). Every other component and parameter of a component is an error.
//
// [Signature.Verify] checks only the signature. The verifier must also check which components the signature
// covers, its times, its nonce, the authority, and the body ([VerifyContentDigest]).
package httpsig
