package identity

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

const defaultMaxBody = 1 << 20

// Config configures an [Authenticator].
type Config struct {
	// Registry finds keys and clients, and records nonces.
	Registry Registry
	// Authorities lists the gateway's names in lowercase letters: host, or host:port if the port is not the
	// scheme's default. A signed request must be for one of them. On a loopback address every request must be
	// for one of them or a loopback name. If empty, every signed request is rejected.
	Authorities []string
	// TrustedProxies lists networks with trusted X-Forwarded-For and X-Forwarded-Proto.
	TrustedProxies []netip.Prefix
	// MaxBody limits signed request bodies, in bytes. If zero, 1 MiB is used.
	MaxBody int64
	// Log receives the Registry's errors. If nil, [slog.Default] is used.
	Log *slog.Logger
	// Now returns the current time. If nil, [time.Now] is used.
	Now func() time.Time
}

// Authenticator finds a request's caller. Its methods are safe for concurrent use.
type Authenticator struct{ config Config }

// New returns an Authenticator. It fails if the Config is invalid.
func New(c Config) (*Authenticator, error) {
	if c.Registry == nil {
		return nil, errors.New("identity: registry not set; set Config.Registry")
	}
	for _, authority := range c.Authorities {
		lowercase := strings.ToLower(authority)
		if authority == "" || authority != lowercase || strings.ContainsAny(authority, "/@ ") {
			return nil, fmt.Errorf("authority %q: not host or host:port in lowercase letters; change it", authority)
		}
	}
	for _, proxy := range c.TrustedProxies {
		if !proxy.IsValid() {
			return nil, errors.New("trusted proxy: not a network; use the form 10.0.0.0/8")
		}
	}
	if c.MaxBody < 0 {
		return nil, fmt.Errorf("identity: maximum body is %d bytes; use a positive number", c.MaxBody)
	}
	c.MaxBody, c.Log = cmp.Or(c.MaxBody, defaultMaxBody), cmp.Or(c.Log, slog.Default())
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Authorities, c.TrustedProxies = slices.Clone(c.Authorities), slices.Clone(c.TrustedProxies)
	return &Authenticator{c}, nil
}

// Middleware authenticates each request and gives it to next with the caller in its context ([FromContext]).
// If the credentials are unusable, or the request comes from another site's page, it responds with an RFC
// 9457 problem instead.
func (a *Authenticator) Middleware(next http.Handler) http.Handler {
	return a.ownSite(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Checking a signed body replaces r.Body.
		r = r.WithContext(r.Context())
		caller, err := a.Identify(r)
		if err != nil {
			a.log(r.Context(), err)
			WriteProblem(w, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(NewContext(r.Context(), caller)))
	}))
}

// log writes the causes that the caller does not get.
func (a *Authenticator) log(ctx context.Context, err error) {
	var problem *Error
	if errors.As(err, &problem) && problem.Status == http.StatusServiceUnavailable {
		a.config.Log.ErrorContext(ctx, "cannot check credentials", "error", problem.cause)
	}
}

// Identify returns a request's caller. If the request is signed, it reads the body and replaces it. All
// errors are of type [*Error].
func (a *Authenticator) Identify(r *http.Request) (Caller, error) {
	address := callerPrefix(callerAddress(r, a.config.TrustedProxies))
	authorization := r.Header.Values("Authorization")
	signed := signed(r)
	var caller Caller
	var err error
	switch {
	case len(authorization) == 0 && !signed:
		return anonymous(address), nil
	case len(authorization) > 1 || len(authorization) == 1 && signed:
		return caller, unauthenticated("credentials-ambiguous",
			"credentials: the request has several; send one Authorization or one signature")
	case signed:
		caller, err = a.bySignature(r)
	default:
		scheme, token, _ := strings.Cut(authorization[0], " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return caller, unauthenticated("authorization-scheme",
				"field Authorization: scheme is not Bearer; send Bearer and an API key")
		}
		caller, err = a.byKey(r.Context(), strings.TrimSpace(token))
	}
	caller.Address = address
	return caller, err
}

// EnvironmentKey names the environment variable with a stdio caller's API key.
const EnvironmentKey = "HAGGLE_API_KEY"

// FromEnvironment returns the caller in a process that serves its parent over stdio. The caller is anonymous
// if [EnvironmentKey] is not set. It returns an [*Error] if the variable is set to anything but a valid key.
// lookup is usually [os.LookupEnv]. Call it for each request: a key can expire while the process runs.
func (a *Authenticator) FromEnvironment(
	ctx context.Context, lookup func(name string) (value string, ok bool),
) (Caller, error) {
	text, ok := lookup(EnvironmentKey)
	if !ok {
		return anonymous(netip.Prefix{}), nil
	}
	if text == "" {
		return Caller{}, unauthenticated("api-key-malformed", "%s: empty; set a key, or unset it",
			EnvironmentKey)
	}
	caller, err := a.byKey(ctx, text)
	if err != nil {
		a.log(ctx, err)
	}
	return caller, err
}

func (a *Authenticator) byKey(ctx context.Context, text string) (Caller, error) {
	key, err := ParseAPIKey(text)
	if err != nil {
		return Caller{}, unauthenticated("api-key-malformed", "%s", err)
	}
	hash := key.Hash()
	record, err := a.config.Registry.KeyByHash(ctx, hash)
	switch {
	case errors.Is(err, ErrUnknown):
		return Caller{}, unauthenticated("api-key-unknown",
			"API key: unknown to this gateway; use a key that it issued")
	case err != nil:
		return Caller{}, unavailable(err)
	case subtle.ConstantTimeCompare([]byte(record.Hash), []byte(hash)) == 0:
		// A database can ignore case or trailing spaces in comparisons.
		err = fmt.Errorf("API key %s: registry returned a key with another hash", record.ID)
		return Caller{}, unavailable(err)
	case record.Kind != Client && record.Kind != Publisher && record.Kind != Administrator:
		err = fmt.Errorf("API key %s: kind %q cannot own keys", record.ID, record.Kind)
		return Caller{}, unavailable(err)
	}
	if err := record.check(a.config.Now()); err != nil {
		return Caller{}, err
	}
	// Unknown scopes, and scopes not for this kind of owner, permit nothing.
	permitted := slices.DeleteFunc(ScopesOf(record.Kind), func(s Scope) bool {
		return !slices.Contains(record.Scopes, s)
	})
	return Caller{
		Kind: record.Kind, ID: record.Owner, Name: record.OwnerName, Scopes: permitted,
		Method: ByAPIKey, KeyID: record.ID, Expires: record.Expires,
	}, nil
}
