package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
)

// maxBody limits requests, in bytes. A bundle of 64 proposals needs less than a tenth.
const maxBody = 1 << 20

// HTTPConfig configures a handler.
type HTTPConfig struct {
	// Sessions keeps a session in memory for each client, for servers with tools that send requests to the
	// client. A session belongs to the first caller. The gateway's server does not need sessions.
	Sessions bool
	// Log receives the protocol's errors. If nil, they are not logged.
	Log *slog.Logger
}

// Handler serves a server by streamable HTTP, to callers that the authenticator accepts.
func Handler(server *mcp.Server, a *identity.Authenticator, c HTTPConfig) http.Handler {
	var handler http.Handler = mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{
			Stateless: !c.Sessions, Logger: c.Log, MaxRequestBodyBytes: maxBody,
			SessionTimeout: 10 * time.Minute,
			// The authenticator already checked the host. The protection would refuse the gateway's own name
			// behind a proxy on the same machine.
			DisableLocalhostProtection: true,
		})
	if c.Sessions {
		handler = bindSessions(handler)
	}
	return a.Middleware(withControl(handler))
}

// bindSessions makes the SDK reject sessions used by a different caller.
func bindSessions(next http.Handler) http.Handler {
	verify := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		caller, known := identity.FromContext(ctx)
		if !known {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: caller.LimitKey(), Expiration: time.Now().Add(time.Hour)}, nil
	}
	bound := auth.RequireBearerToken(verify, nil)(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		// The SDK reads the caller only from a token. The credentials have been checked before.
		r.Header.Set("Authorization", "Bearer checked")
		bound.ServeHTTP(w, r)
	})
}
