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
// status 401, never an anonymous caller's rights: a client must notice that its key has expired. A suspended
// client gets the status 403 for every request. The caller's name comes from the registration, never from the
// request.
//
// [Authenticator.Middleware] also refuses cross-site browser requests.
//
// # Keys of Web Bot Auth
//
// The gateway never fetches the URL in Signature-Agent. A caller could otherwise make the gateway connect to
// addresses inside its network (server-side request forgery). An operator registers the pair of URL and key
// beforehand. The draft accepts this, and requires that keys are found by the pair, not by the key alone.
//
// # Required coverage
//
// Signatures are valid for one authority, so a verifier that accepts any Host accepts signatures for other
// servers: [Config.Authorities] lists the gateway's own names. Signatures must cover the method, the
// authority, the path and the query (or @target-uri instead of the last three), Content-Digest if there is a
// body, and Idempotency-Key and Mcp-Session-Id if the request has them. A nonce is required, and the lifetime
// is at most 5 minutes. GET and HEAD requests with Web Bot Auth need only the draft's minimum (@authority or
// @target-uri, and Signature-Agent), may lack a nonce, and may last 24 hours: crawlers repeat such
// signatures. Until they expire, they permit all reads of the client.
//
// # Addresses
//
// The limits of anonymous callers count by address prefix: /24 for IPv4 and /56 for IPv6, the usual size of
// one subscriber's network. Any client can send X-Forwarded-For, so the gateway trusts only addresses in
// [Config.TrustedProxies]: the caller is the last address in the chain that is not a trusted proxy. With no
// trusted proxies, it is the connection's peer; behind an unlisted proxy all anonymous callers then share one
// limit. An overly wide list lets callers choose their address. Trusted proxies must keep Host, and set
// X-Forwarded-Proto if they end TLS.
package identity
