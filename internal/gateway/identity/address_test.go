package identity_test

import (
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
)

func TestAnonymousCallersAreCountedByTheirNetwork(t *testing.T) {
	private := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, c := range map[string]struct {
		proxies   []netip.Prefix
		peer      string
		forwarded []string
		want      string
	}{
		"IPv4":              {nil, "203.0.113.9:1", nil, "203.0.113.0/24"},
		"IPv6":              {nil, "[2001:db8:1:2ff::1]:1", nil, "2001:db8:1:200::/56"},
		"IPv4 in IPv6":      {nil, "[::ffff:203.0.113.9]:1", nil, "203.0.113.0/24"},
		"zone":              {nil, "[fe80::1%eth0]:1", nil, "fe80::/56"},
		"no proxy trusted":  {nil, "10.0.0.1:1", []string{"203.0.113.9"}, "10.0.0.0/24"},
		"peer is no proxy":  {private, "198.51.100.1:1", []string{"203.0.113.9"}, "198.51.100.0/24"},
		"one proxy":         {private, "10.0.0.1:1", []string{"203.0.113.9"}, "203.0.113.0/24"},
		"forged entry":      {private, "10.0.0.1:1", []string{"192.0.2.1, 203.0.113.9"}, "203.0.113.0/24"},
		"forged line":       {private, "10.0.0.1:1", []string{"192.0.2.1", "203.0.113.9"}, "203.0.113.0/24"},
		"two proxies":       {private, "10.0.0.1:1", []string{"1.1.1.1, 203.0.113.9, fd00::2"}, "203.0.113.0/24"},
		"forged proxy":      {private, "10.0.0.1:1", []string{"10.9.9.9, 203.0.113.9"}, "203.0.113.0/24"},
		"only proxies":      {private, "10.0.0.1:1", []string{"10.1.1.1"}, "10.1.1.0/24"},
		"malformed entry":   {private, "10.0.0.1:1", []string{"203.0.113.9, unknown"}, "10.0.0.0/24"},
		"no entry":          {private, "10.0.0.1:1", nil, "10.0.0.0/24"},
		"IPv6 behind proxy": {private, "[fd00::1]:1", []string{" 2001:db8::1 "}, "2001:db8::/56"},
	} {
		t.Run(name, func(t *testing.T) {
			authenticator, err := identity.New(identity.Config{Registry: &registry{}, TrustedProxies: c.proxies})
			require.NoError(t, err)
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = c.peer
			r.Header["X-Forwarded-For"] = c.forwarded
			caller, err := authenticator.Identify(r)
			require.NoError(t, err)
			assert.Equal(t, "anonymous:"+c.want, caller.LimitKey())
		})
	}
}

func TestACallerOverAUnixSocketIsLocal(t *testing.T) {
	authenticator, err := identity.New(identity.Config{Registry: &registry{}})
	require.NoError(t, err)
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "@"
	caller, err := authenticator.Identify(r)
	require.NoError(t, err)
	assert.Equal(t, "anonymous:local", caller.LimitKey())
}
