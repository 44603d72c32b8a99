package service_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// authority is the gateways' name in signed requests.
const authority = "gateway.example"

// authenticator returns the authenticator of another gateway process using the database.
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

// calls returns a function that authenticates a request with an API key at the time of the fixture.
func (f *fixture) calls(t *testing.T) func(identity.APIKey) (identity.Caller, error) {
	t.Helper()
	authenticator, err := identity.New(identity.Config{
		Registry: service.Registry{Store: f.store}, Now: f.store.Now,
	})
	require.NoError(t, err)
	return func(key identity.APIKey) (identity.Caller, error) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer "+key.Reveal())
		return authenticator.Identify(r)
	}
}

func TestAnExpiredAPIKeyIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		calls, end := f.calls(t), f.store.Now().Add(time.Hour)
		limited, _, err := f.CreateKey(t.Context(), f.siteA, service.KeyRequest{Name: "limited", ExpiresAt: end})
		require.NoError(t, err)
		unlimited, _, err := f.CreateKey(t.Context(), f.siteA, service.KeyRequest{Name: "unlimited"})
		require.NoError(t, err)
		f.offset.Store(int64(time.Hour - time.Microsecond))
		caller, err := calls(limited)
		require.NoError(t, err)
		require.Equal(t, f.siteA.ID, caller.ID)
		f.offset.Store(int64(time.Hour))
		_, err = calls(limited)
		var refusal *identity.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, "401 api-key-expired", fmt.Sprint(refusal.Status, " ", refusal.Code))
		_, err = calls(unlimited)
		require.NoError(t, err)
	})
}

// During a rotation's overlap both keys are valid, so clients can switch at any time.
func TestBothKeysOfARotationAreValidForATime(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx, calls := t.Context(), f.calls(t)
		first, key, err := f.CreateKey(ctx, f.siteA, service.KeyRequest{
			Name: "main", Scopes: []string{"strategies:read", "keys:write"},
		})
		require.NoError(t, err)
		owner, err := calls(first)
		require.NoError(t, err)
		f.log.Reset()
		second, added, replaced, err := f.RotateKey(ctx, owner, key.ID, time.Hour)
		require.NoError(t, err)
		end := f.store.Now().Add(time.Hour)
		require.Equal(t, []any{key.ID, end, added.ID},
			[]any{replaced.ID, replaced.ExpiresAt, replaced.ReplacedBy})
		require.Zero(t, added.ExpiresAt, "the new key ends when the old one would have ended")
		line := fmt.Sprintf(`msg="API key rotated" key=%s new_key=%s`, key.ID, added.ID)
		require.Contains(t, f.log.String(), line)
		require.Contains(t, f.log.String(), fmt.Sprintf(`by="publisher:%d key:%s"`, f.siteA.ID, key.ID))
		require.NotContains(t, f.log.String(), second.Reveal())
		for _, key := range []identity.APIKey{first, second} {
			caller, err := calls(key)
			require.NoError(t, err)
			require.Equal(t, owner.Scopes, caller.Scopes)
		}
		_, _, _, err = f.RotateKey(ctx, owner, key.ID, time.Hour)
		ended := fails(t, err, service.Conflict, service.CodeKeyEnded)
		require.Equal(t, fmt.Sprintf("API key %s: cannot be rotated: replaced by API key %s; if its text "+
			"is lost, ask the administrator for another key", key.ID, added.ID), ended.Detail)
		// Whoever stole the first key cannot end the second one.
		stolen, err := calls(first)
		require.NoError(t, err)
		_, err = f.RevokeKey(ctx, stolen, added.ID)
		fails(t, err, service.Forbidden, "scope-missing")
		f.offset.Add(int64(time.Hour))
		_, err = calls(first)
		require.ErrorContains(t, err, "expired")
		_, err = calls(second)
		require.NoError(t, err)
		for _, wrong := range []time.Duration{-time.Second, service.MaxOverlap + time.Second} {
			_, _, _, err = f.RotateKey(ctx, f.siteA, added.ID, wrong)
			require.Equal(t, "overlap_seconds", fails(t, err, service.Invalid, "invalid").Field)
		}
	})
}

// The audit log names the caller of each change, with the key: also an administrator.
func TestTheAuditLogNamesTheCaller(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx, client, publisher := t.Context(), f.openAI, f.siteA
		client.KeyID, publisher.KeyID = "c", "p"
		by := map[string]string{
			"client":    fmt.Sprintf("client:%d key:c", client.ID),
			"publisher": fmt.Sprintf("publisher:%d key:p", publisher.ID),
		}
		entries := func(id string) (found []string) {
			log, err := f.AuditLog(ctx, f.administrator, id, 0, store.MaxPage)
			require.NoError(t, err)
			for _, link := range log {
				var e audit.Entry
				require.NoError(t, json.Unmarshal([]byte(link.Entry), &e))
				found = append(found, e.Kind+" by "+e.By)
			}
			return found
		}
		n := f.propose(t, client, prepaid(1500), "site-a.local").Answers[0].Negotiation
		_, err := f.Counter(ctx, client, service.CounterRequest{Negotiation: n.ID, Terms: prepaid(4000)})
		require.NoError(t, err)
		before := len(entries(n.ID))
		for _, entry := range entries(n.ID) {
			require.Contains(t, entry, " by "+by["client"])
		}
		_, err = f.Approve(ctx, f.administrator, service.ApprovalRequest{Negotiation: n.ID, Approved: true})
		require.NoError(t, err)
		_, _, err = f.GenerateLicense(ctx, client, n.ID)
		require.NoError(t, err)
		licenses, err := f.Licenses(ctx, publisher, store.Page{})
		require.NoError(t, err)
		_, err = f.RevokeLicense(ctx, publisher, licenses.Items[0].ID, "not paid")
		require.NoError(t, err)
		require.Equal(t, []string{
			"round by administrator:k", "status by administrator:k", "licence by " + by["client"],
			"licence_revoked by " + by["publisher"],
		}, entries(n.ID)[before:])

		open := f.propose(t, f.anonymous, at(1500), "site-a.local").Answers[0].Negotiation.ID
		_, err = f.Accept(ctx, f.anonymous, service.AcceptRequest{Offers: []service.Offer{{open, 1}}})
		require.NoError(t, err)
		for _, entry := range entries(open) {
			require.Regexp(t, " by anonymous$", entry)
		}
		late := f.propose(t, client, at(1500), "site-a.local").Answers[0].Negotiation.ID
		f.offset.Add(int64(2 * time.Hour))
		before = len(entries(late))
		_, err = f.store.Sweep(ctx, store.MaxSweep)
		require.NoError(t, err)
		require.Equal(t, []string{"round by ", "status by "}, entries(late)[before:], "the gateway's own act")
	})
}
