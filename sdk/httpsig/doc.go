// Package httpsig signs and verifies HTTP requests with Ed25519, by HTTP Message Signatures (RFC 9421).
//
// A client of the gateway authenticates with one of three [net/http.RoundTripper] values: [Transport] with no
// Agent signs each request with a registered client's key, Transport with an Agent signs it by Web Bot Auth
// (draft-ietf-webbotauth-httpsig-protocol-00), and [BearerTransport] sends an API key.
//
// The package implements the part of RFC 9421 needed for these: requests, Ed25519, the derived components
// @method, @authority, @scheme, @target-uri, @request-target, @path and @query, fields, and members of
// dictionary fields (the parameter "key"). Every other component and component parameter is an error.
//
// [Signature.Verify] checks only the signature. The verifier must also check which components the signature
// covers, the times, the nonce, the authority, and the body ([VerifyContentDigest]).
package httpsig
