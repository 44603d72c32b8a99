// Package identity authenticates the callers of the gateway: REST and MCP over HTTP by
// [Authenticator.Middleware], and MCP over stdio by [Authenticator.FromEnvironment].
//
// A caller is a publisher, a client, or anonymous. It proves its identity in one of these ways:
//
//   - An API key in the field Authorization: Bearer hgl_....
//   - A signature by RFC 9421 with the tag "haggle" and a registered Ed25519 key. The key ID is the public
//     key in base64url.
//   - A signature by Web Bot Auth (draft-ietf-webbotauth-httpsig-protocol-00) with the tag "web-bot-auth", an
//     Ed25519 key and a Signature-Agent, which are both registered.
//
// A request without credentials is anonymous. A request with wrong, two or unusable credentials gets the
// status 401, never the rights of an anonymous caller: a client must notice that its key has expired. A suspended
// client gets the status 403 for every request. The name of a caller comes from its registration, never from the request.
//
// [Authenticator.Middleware] also refuses requests that a page of another site sends from a browser.
//
// # Keys of Web Bot Auth
//
// The gateway never fetches the URL in Signature-Agent. A caller could otherwise make the gateway send
// requests to addresses inside its network (server-side request forgery). An operator registers the pair of
// URL and key beforehand. The draft accepts this, and requires that keys are found by the pair, not by the
// key alone.
//
// # Required coverage
//
// A signature is valid for one authority, so a verifier that accepts any Host accepts signatures for other
// servers: [Config.Authorities] lists the gateway's own names. A signature must cover the method, the
// authority, the path and the query (or @target-uri instead of the last three), Content-Digest if there is a
// body, and Idempotency-Key and Mcp-Session-Id if the request has them. It needs a nonce, and expires after 5
// minutes at most. GET and HEAD requests with Web Bot Auth need only the draft's minimum (@authority or
// @target-uri, and Signature-Agent), may lack a nonce, and may last 24 hours: crawlers repeat such
// signatures. Until they expire, they permit all reads of the client.
//
// # Addresses
//
// The limits of anonymous callers count by address prefix: /24 for IPv4 and /56 for IPv6, the usual size of
// one subscriber's network. Any client can send X-Forwarded-For, so the gateway trusts only addresses in
// [Config.TrustedProxies]: the caller is the last address of the chain that is not a trusted proxy. With no
// trusted proxies, the caller is the peer of the connection; behind an unlisted proxy all anonymous callers
// then share one limit. A list that is too wide lets callers choose their address. Trusted proxies must keep
// Host, and set X-Forwarded-Proto if they end TLS.
package identity
