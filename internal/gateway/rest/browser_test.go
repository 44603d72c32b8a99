package rest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/rest"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
)

// A page in a browser reaches the gateway on the loopback address neither by another name nor from another origin.
func TestRequestsOfForeignPagesAreRefused(t *testing.T) {
	g := open(t, sqlite(t))
	k := g.register(t)
	config := newConfig(t, g.store)
	var err error
	config.Authenticator, err = identity.New(identity.Config{
		Registry: service.Registry{Store: g.store}, Authorities: []string{"gateway.example"},
	})
	require.NoError(t, err)
	for address, list := range map[string]string{
		newServer(t, rest.Negotiation(config)): "/api/clients", newServer(t, rest.Licensing(config)): "/api/licenses",
	} {
		for _, c := range []struct {
			name, method, host, origin, site string
			status                           int
			code                             string
		}{
			{"own address", "GET", "", "", "", 200, ""},
			{"proxy on the same machine", "GET", "gateway.example", "", "", 200, ""},
			{"rebound host", "GET", "attacker.example", "", "", 403, "host-unknown"},
			{"foreign origin", "POST", "", "https://attacker.example", "", 403, "origin-foreign"},
			{"opaque origin", "POST", "", "null", "", 403, "origin-foreign"},
			{"foreign page", "DELETE", "", "", "cross-site", 403, "origin-foreign"},
			{"own origin", "GET", "", address, "same-origin", 200, ""},
		} {
			r, err := http.NewRequestWithContext(t.Context(), c.method, address+list, http.NoBody)
			require.NoError(t, err)
			key := k.administrator
			if list == "/api/licenses" {
				key = k.client
			}
			r.Header.Set("Authorization", "Bearer "+key)
			if c.host != "" {
				r.Host = c.host
			}
			for name, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			got := send(t, r)
			require.Equal(t, c.status, got.status, "%s: %s", c.name, got.text)
			if c.code != "" {
				require.Equal(t, "urn:haggle:problem:"+c.code, got.body["type"], c.name)
			}
		}
	}
}
