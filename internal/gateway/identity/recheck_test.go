package identity_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
)

// An accepted request stays valid after its signature has expired and its nonce was used, until the key ends.
func TestRecheckOfAnAcceptedRequest(t *testing.T) {
	g := newGateway(t, nil)
	later := time.Now()
	a, err := identity.New(identity.Config{
		Registry: g.registry, Authorities: []string{g.Listener.Addr().String()}, Now: func() time.Time { return later },
	})
	require.NoError(t, err)
	fails := func(err error, code string) {
		t.Helper()
		var problem *identity.Error
		require.ErrorAs(t, err, &problem)
		require.Equal(t, code, problem.Code)
	}
	for name, transport := range g.transports(nil) {
		r := recorded(g.request(t, "GET", ""), *transport, t)
		_, err := a.Identify(r)
		require.NoError(t, err, name)
		later = later.Add(time.Hour)
		require.NoError(t, a.Recheck(r), name)
		g.registry.err = errors.New("database closed")
		fails(a.Recheck(r), "identity-unavailable")
		g.registry.err = nil
		for key, client := range g.registry.clients {
			client.Suspended = time.Now()
			g.registry.clients[key] = client
		}
		fails(a.Recheck(r), "client-suspended")
		for key, client := range g.registry.clients {
			client.Suspended, client.Revoked = time.Time{}, time.Now()
			g.registry.clients[key] = client
		}
		fails(a.Recheck(r), "signature-key-revoked")
		for key, client := range g.registry.clients {
			client.Revoked = time.Time{}
			g.registry.clients[key] = client
		}
		later = time.Now()
	}

	r := g.request(t, "GET", "")
	require.NoError(t, a.Recheck(r), "anonymous")
	r.Header.Set("Authorization", "bearer "+g.key.Reveal())
	require.NoError(t, a.Recheck(r))
	record := g.registry.keys[g.key.Hash()]
	record.Expires = later
	g.registry.keys[g.key.Hash()] = record
	fails(a.Recheck(r), "api-key-expired")
}
