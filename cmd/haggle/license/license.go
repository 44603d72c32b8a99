// Package license implements the commands haggle license buy, suggest, show and list: a gateway client for AI
// companies.
package license

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
	"github.com/haggle-protocol/haggle/sdk/license"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

const licenseHelp = `Buys licenses to the content of publishers from a gateway (haggle serve), and shows them.

The credentials are an API key, in the variable HAGGLE_API_KEY or in a file (--key), or an Ed25519 key that
signs each request (--signing-key, a keypair file), by Web Bot Auth with --agent. An anonymous client gets no
license, so only "buy --dry-run" works without credentials.`

// requestTimeout limits one request.
const requestTimeout = 30 * time.Second

// connection holds the flags shared by all commands.
type connection struct {
	*session.Session
	gateway, licensing, key, signing, agent, transport string
}

// Command returns the commands.
func Command(s *session.Session) *cobra.Command {
	c := &connection{Session: s}
	group := command.Group("license", "Buy licenses to content from a gateway", licenseHelp,
		newBuyCommand(c), newSuggestCommand(c), newShowCommand(c), newListCommand(c))
	flags := group.PersistentFlags()
	flags.StringVar(&c.gateway, "gateway", "http://127.0.0.1:3003", "URL of the gateway's negotiation API")
	flags.StringVar(&c.key, "key", "", "file with the API key (default: the variable "+identity.EnvironmentKey+")")
	flags.StringVar(&c.signing, "signing-key", "",
		"keypair file whose key signs the requests, instead of an API key")
	flags.StringVar(&c.agent, "agent", "",
		"with --signing-key: sign by Web Bot Auth as this origin, such as https://agent.example")
	flags.StringVar(&c.transport, "transport", "rest", "protocol: rest or mcp (at /mcp of the gateway)")
	return group
}

// open returns the client.
func (c *connection) open(ctx context.Context) (client *license.Client, end func(), err error) {
	base, err := c.credentials()
	if err != nil {
		return nil, nil, err
	}
	config := license.Config{
		BaseURL: c.gateway, LicensingURL: c.licensing, HTTP: &http.Client{Transport: base, Timeout: requestTimeout},
	}
	end = func() {}
	switch c.transport {
	case "rest":
	case "mcp":
		connected, err := license.ConnectMCP(ctx, strings.TrimSuffix(c.gateway, "/")+"/mcp", config.HTTP)
		if err != nil {
			return nil, nil, err
		}
		config.Gateway, end = connected, func() { _ = connected.Close() }
	default:
		return nil, nil, exitcode.Usagef("--transport: %q is neither rest nor mcp", c.transport)
	}
	client, err = license.NewClient(config)
	if err != nil {
		return nil, nil, exitcode.AsUsage(err, "check --gateway and --licensing")
	}
	return client, end, nil
}

// credentials returns the transport that adds the credentials.
func (c *connection) credentials() (http.RoundTripper, error) {
	key := strings.TrimSpace(os.Getenv(identity.EnvironmentKey))
	switch {
	case c.signing != "" && c.key != "":
		return nil, exitcode.Excludes("--key", "--signing-key", "")
	case c.agent != "" && c.signing == "":
		return nil, exitcode.Requires("--agent", "--signing-key", "")
	case c.signing != "":
		pair, err := wallet.LoadKeypairFile(c.signing)
		if err != nil {
			return nil, exitcode.Usagef("--signing-key: %w", err)
		}
		return &httpsig.Transport{Key: ed25519.PrivateKey(pair.PrivateKey()), Agent: c.agent}, nil
	case c.key != "":
		text, err := os.ReadFile(c.key)
		if err != nil {
			return nil, exitcode.Usagef("--key: %w", err)
		}
		key = strings.TrimSpace(string(text))
	}
	if key == "" {
		return http.DefaultTransport, nil
	}
	return origins{c.gateway, c.licensing, key}, nil
}

// isAnonymous reports whether credentials are missing.
func (c *connection) isAnonymous() bool {
	return c.signing == "" && c.key == "" && strings.TrimSpace(os.Getenv(identity.EnvironmentKey)) == ""
}

// origins sends the API key to the two APIs of the gateway, and to no other origin.
type origins struct{ gateway, licensing, key string }

// RoundTrip implements [http.RoundTripper].
func (o origins) RoundTrip(r *http.Request) (*http.Response, error) {
	origin := o.gateway
	if to := r.URL.Scheme + "://" + r.URL.Host; strings.TrimSuffix(o.licensing, "/") == to {
		origin = to
	}
	sent := &httpsig.BearerTransport{Origin: strings.TrimSuffix(origin, "/"), APIKey: o.key}
	return sent.RoundTrip(r)
}

// failure adds the exit code to an error of the client.
func failure(err error) error {
	var problem *license.Problem
	switch {
	case err == nil:
		return nil
	case errors.Is(err, license.ErrRequest):
		return &exitcode.Error{Kind: exitcode.Usage, Err: errors.New(strings.TrimPrefix(err.Error(), "license: "))}
	case errors.Is(err, license.ErrNotFound):
		return &exitcode.Error{Kind: exitcode.NotFound, Err: err}
	case errors.As(err, &problem) && problem.Status < http.StatusInternalServerError && problem.Code != "internal":
		return &exitcode.Error{Kind: exitcode.Refused, Err: err}
	case errors.As(err, &problem):
		return &exitcode.Error{Kind: exitcode.Network, Err: err, Hint: gatewayHint}
	case exitcode.KindOf(err) == exitcode.Network:
		return exitcode.WithHint(err, gatewayHint)
	}
	return err
}

// gatewayHint is the hint if the gateway does not respond.
const gatewayHint = "check --gateway (and --licensing, for a list); to run a gateway: haggle serve --help"

// licensingFlag registers the flag of the licensing API.
func (c *connection) licensingFlag(flags *pflag.FlagSet) {
	flags.StringVar(&c.licensing, "licensing", "http://127.0.0.1:3000", "URL of the gateway's licensing API")
}

// licenseView is a license.
type licenseView struct {
	ID          int64  `json:"policy_id"`
	Negotiation string `json:"negotiation_id"`
	Publisher   string `json:"publisher_hostname"`
	Agent       string `json:"agent"`
	// PricePerFetch is an exact decimal amount of the publisher's currency.
	PricePerFetch   string            `json:"price_per_fetch"`
	PrepaidFetches  uint64            `json:"prepaid_fetches"`
	Purposes        []license.Purpose `json:"purposes"`
	TokenTTLSeconds uint32            `json:"token_ttl_seconds"`
	MaxRPS          uint32            `json:"max_rps"`
	ValidUntil      time.Time         `json:"valid_until"`
	// RevokedAt is missing unless the license is revoked.
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
}

func viewOf(l license.License) *licenseView {
	v := &licenseView{ID: l.ID, Negotiation: l.NegotiationID, Publisher: l.Policy.Publisher}
	if !l.RevokedAt.IsZero() {
		v.RevokedAt = &l.RevokedAt
	}
	if len(l.Policy.Rules) > 0 {
		rule := l.Policy.Rules[0]
		v.Agent, v.PricePerFetch, v.PrepaidFetches = rule.Agent, rule.PricePerFetch.String(), rule.PrepaidFetches
		v.Purposes, v.TokenTTLSeconds, v.MaxRPS = rule.Purposes, rule.TokenTTLSeconds, rule.MaxRPS
		v.ValidUntil = rule.ValidUntil
	}
	v.PricePerFetch = cmp.Or(v.PricePerFetch, "0")
	return v
}
