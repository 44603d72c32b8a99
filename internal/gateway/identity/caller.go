package identity

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"time"
)

// Kind classifies callers.
type Kind string

// The kinds.
const (
	Anonymous Kind = "anonymous"
	Client    Kind = "client"
	Publisher Kind = "publisher"
	// Administrator is a gateway operator. Administrators have no ID.
	Administrator Kind = "administrator"
)

// Method names how the caller was authenticated.
type Method string

// The methods. An anonymous caller has none.
const (
	ByAPIKey     Method = "api_key"
	ByEd25519    Method = "ed25519"
	ByWebBotAuth Method = "web_bot_auth"
)

// Caller is the sender's verified identity.
type Caller struct {
	Kind Kind
	// ID is the client or publisher ID; 0 for anonymous callers.
	ID int64
	// Name is the registered name; empty for anonymous callers.
	Name string
	// Scopes lists the permissions.
	Scopes []Scope
	// Method is empty if the caller is anonymous.
	Method Method
	// KeyID is the API key's ID, or the key ID in the signature. It is not secret.
	KeyID string
	// Expires is when the API key expires; zero if it does not.
	Expires time.Time
	// Address is the caller's address prefix; zero over stdio.
	Address netip.Prefix
}

// Has reports whether the caller has the scope.
func (c Caller) Has(scope Scope) bool { return slices.Contains(c.Scopes, scope) }

// Require returns an [*Error] with the status 403 if the caller lacks a scope.
func (c Caller) Require(scope Scope) error {
	if c.Has(scope) {
		return nil
	}
	if c.Kind == Anonymous || c.Kind == "" {
		return denied("the caller is anonymous; send credentials with the scope %s", scope)
	}
	return denied("the credentials lack the scope %s; use an API key that has it", scope)
}

// RequireAll fails like [Caller.Require] if the caller lacks one of the scopes. A caller that creates an API
// key must have every scope of the new key.
func (c Caller) RequireAll(scopes []Scope) error {
	for _, scope := range scopes {
		if err := c.Require(scope); err != nil {
			return err
		}
	}
	return nil
}

// LimitKey returns the name under which limits count the caller, such as "client:7" or
// "anonymous:203.0.113.0/24".
func (c Caller) LimitKey() string {
	switch c.Kind {
	case Client, Publisher:
		return string(c.Kind) + ":" + strconv.FormatInt(c.ID, 10)
	case Administrator:
		return string(c.Kind) + ":" + c.KeyID
	}
	if !c.Address.IsValid() {
		return string(Anonymous) + ":local"
	}
	return string(Anonymous) + ":" + c.Address.String()
}

func anonymous(address netip.Prefix) Caller {
	return Caller{Kind: Anonymous, Scopes: ScopesOf(Anonymous), Address: address}
}

type contextKey struct{}

// NewContext returns a context with a caller.
func NewContext(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// FromContext returns the context's caller, and reports whether it is set.
func FromContext(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(contextKey{}).(Caller)
	return c, ok
}
