package service_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// authority is the name of the gateways in signed requests.
const authority = "gateway.example"

// authenticator returns that of another gateway process on the database.
func (f *fixture) authenticator(t *testing.T) *identity.Authenticator {
	t.Helper()
	database, err := store.Open(t.Context(), store.Config{Address: f.address, Now: f.store.Now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	authenticator, err := identity.New(identity.Config{
		Registry: service.Registry{Store: database}, Authorities: []string{authority}, Now: time.Now,
	})
	require.NoError(t, err)
	return authenticator
}

// signed returns a request as a server receives it.
func signed(t *testing.T, transport httpsig.Transport) *http.Request {
	t.Helper()
	var sent *http.Request
	transport.Base = roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = httptest.NewRequestWithContext(t.Context(), r.Method, r.URL.RequestURI(), http.NoBody)
		sent.Host, sent.Header = r.URL.Host, r.Header
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+authority+"/", nil)
	require.NoError(t, err)
	_, err = transport.RoundTrip(r)
	require.NoError(t, err)
	return sent
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An observed request cannot be repeated at another gateway process of the same database.
func TestASignatureIsAcceptedByOneGateway(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		public, private, err := ed25519.GenerateKey(nil)
		require.NoError(t, err)
		text := base64.RawURLEncoding.EncodeToString(public)
		signer, err := f.RegisterClient(t.Context(), f.administrator,
			service.Client{Name: "Signer", PublicKey: text})
		require.NoError(t, err)
		const agent = "https://bot.example"
		bot, err := f.RegisterClient(t.Context(), f.administrator,
			service.Client{Name: "Bot", PublicKey: text, Agent: agent})
		require.NoError(t, err)
		one, other := f.authenticator(t), f.authenticator(t)
		for id, transport := range map[int64]httpsig.Transport{
			signer.ID: {Key: private}, bot.ID: {Key: private, Agent: agent},
		} {
			request := signed(t, transport)
			caller, err := one.Identify(request.Clone(t.Context()))
			require.NoError(t, err)
			require.Equal(t, id, caller.ID)
			for _, gateway := range []*identity.Authenticator{other, one} {
				_, err = gateway.Identify(request.Clone(t.Context()))
				require.ErrorContains(t, err, "nonce used before")
			}
			_, err = other.Identify(signed(t, transport))
			require.NoError(t, err, "a further request has a further nonce")
		}
	})
}
