package httpsig

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
)

// BearerTransport is an [http.RoundTripper] that sends an API key with each request to the configured origin.
// It returns an error for requests to any other origin, even if redirected, so the key reaches only the
// gateway.
type BearerTransport struct {
	// Origin is the gateway's scheme, host and port, such as "https://gateway.example". The scheme is https,
	// or http for a loopback address.
	Origin string
	// APIKey authenticates the client. A BearerTransport never prints it.
	APIKey string
	// Base sends all requests. If nil, [http.DefaultTransport] is used.
	Base http.RoundTripper
}

// RoundTrip adds the key to a copy of the request and sends it.
func (t *BearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.check(r); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+t.APIKey)
	return base(t.Base).RoundTrip(r)
}

func (t *BearerTransport) check(r *http.Request) error {
	if t.APIKey == "" {
		return errors.New("API key: empty; set APIKey")
	}
	if origin := r.URL.Scheme + "://" + r.URL.Host; origin != t.Origin {
		return fmt.Errorf("API key: %s is not the origin %s; send the request there", origin, t.Origin)
	}
	if r.URL.Scheme != "https" && !isLoopback(r.URL.Hostname()) {
		return fmt.Errorf("API key: %s is not encrypted; use https", t.Origin)
	}
	return nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// String returns the origin without the key.
func (t BearerTransport) String() string { return "API key for " + t.Origin }

// Format prints the origin without the key, whatever the verb.
func (t BearerTransport) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, t.String()) }

// LogValue returns the origin without the key.
func (t BearerTransport) LogValue() slog.Value { return slog.StringValue(t.String()) }
