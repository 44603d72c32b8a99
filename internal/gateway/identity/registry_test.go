package identity_test

import (
	"crypto/ed25519"
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// TestARegistryWithTheWrongRowIdentifiesNoCaller checks that a lookup returning another row, as a database
// with a lax comparison does, identifies no caller.
func TestARegistryWithTheWrongRowIdentifiesNoCaller(t *testing.T) {
	g := newGateway(t, nil)
	public, _ := g.private.Public().(ed25519.PublicKey)
	_, other, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	otherPublic, _ := other.Public().(ed25519.PublicKey)
	registered := g.registry.clients[string(public)]
	g.registry.clients[string(otherPublic)] = registered
	g.registry.clients[agent+" "+httpsig.Thumbprint(otherPublic)] = registered
	otherKey, noOwner := identity.NewAPIKey(), identity.NewAPIKey()
	g.registry.keys[otherKey.Hash()] = g.registry.keys[g.key.Hash()]
	g.registry.keys[noOwner.Hash()] = identity.KeyRecord{
		ID: "k2", Hash: noOwner.Hash(), Kind: identity.Anonymous,
	}

	// The registered client signs with the other key's ID, so the signature itself is right.
	params := full(g)
	params.KeyID = httpsig.EncodePublicKey(otherPublic)
	r := g.request(t, "GET", "")
	require.NoError(t, params.Sign(r, "a", g.private))
	g.rejected(t, r, nil, 503, "identity-unavailable")

	params.KeyID, params.Tag = httpsig.Thumbprint(otherPublic), httpsig.TagWebBotAuth
	params.Components = append(params.Components, httpsig.Component{Name: "signature-agent", Member: "a"})
	r = g.request(t, "GET", "")
	r.Header.Set("Signature-Agent", `a="`+agent+`"`)
	require.NoError(t, params.Sign(r, "a", g.private))
	g.rejected(t, r, nil, 503, "identity-unavailable")

	for _, key := range []identity.APIKey{otherKey, noOwner} {
		transport := &httpsig.BearerTransport{Origin: g.URL, APIKey: key.Reveal()}
		g.rejected(t, g.request(t, "GET", ""), transport, 503, "identity-unavailable")
	}
}

func TestASignatureOverTwoAgentsIsAmbiguous(t *testing.T) {
	g := newGateway(t, nil)
	public, _ := g.private.Public().(ed25519.PublicKey)
	params := full(g)
	params.KeyID, params.Tag = httpsig.Thumbprint(public), httpsig.TagWebBotAuth
	params.Components = append(params.Components, httpsig.Component{Name: "signature-agent", Member: "a"},
		httpsig.Component{Name: "signature-agent", Member: "b"})
	r := g.request(t, "GET", "")
	r.Header.Set("Signature-Agent", `a="`+agent+`", b="https://other.example"`)
	require.NoError(t, params.Sign(r, "a", g.private))
	g.rejected(t, r, nil, 401, "signature-agent")
}

// TestTheSchemeOfAStrangerIsIgnored shows that only trusted proxies name the scheme.
func TestTheSchemeOfAStrangerIsIgnored(t *testing.T) {
	private := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	g := newGateway(t, func(c *identity.Config) { c.TrustedProxies = private })
	params := full(g)
	params.Components = components("@method", "@target-uri")
	r, err := http.NewRequestWithContext(t.Context(), "GET", "https://gateway.example/", nil)
	require.NoError(t, err)
	require.NoError(t, params.Sign(r, "a", g.private))
	r.Host, r.URL.Host, r.URL.Scheme = "gateway.example", g.Listener.Addr().String(), "http"
	r.Header.Set("X-Forwarded-Proto", "https")
	g.rejected(t, r, nil, 401, "signature-invalid")
}
