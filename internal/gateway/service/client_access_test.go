package service_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// refuses asserts the status and code of the error for a caller.
func refuses(t *testing.T, err error, want string) {
	t.Helper()
	var refusal *identity.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, want, fmt.Sprint(refusal.Status, " ", refusal.Code), refusal.Detail)
}

func newPublicKey(t *testing.T) (private ed25519.PrivateKey, text string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	return private, base64.RawURLEncoding.EncodeToString(public)
}

// A suspended client is refused with each authentication method, until it is restored.
func TestSuspendedClientIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx, gateway := t.Context(), f.authenticator(t)
		withKey := f.client(t, "With key")
		text, _, err := f.CreateKey(ctx, f.administrator, service.KeyRequest{ClientID: withKey.ID, Name: "k"})
		require.NoError(t, err)
		private, public := newPublicKey(t)
		signer, err := f.RegisterClient(ctx, f.administrator, service.Client{Name: "Signer", PublicKey: public})
		require.NoError(t, err)
		const agent = "https://bot.example"
		bot, err := f.RegisterClient(ctx, f.administrator,
			service.Client{Name: "Bot", PublicKey: public, Agent: agent})
		require.NoError(t, err)
		byKey := f.calls(t)
		for id, identify := range map[int64]func() (identity.Caller, error){
			withKey.ID: func() (identity.Caller, error) { return byKey(text) },
			signer.ID: func() (identity.Caller, error) {
				return gateway.Identify(signed(t, httpsig.Transport{Key: private}))
			},
			bot.ID: func() (identity.Caller, error) {
				return gateway.Identify(signed(t, httpsig.Transport{Key: private, Agent: agent}))
			},
		} {
			_, err := identify()
			require.NoError(t, err)
			suspended, err := f.UpdateClient(ctx, f.administrator, id, service.ClientChange{Suspended: new(true)})
			require.NoError(t, err)
			require.Equal(t, f.store.Now(), suspended.SuspendedAt)
			_, err = identify()
			refuses(t, err, "403 client-suspended")
			f.offset.Add(int64(time.Second))
			again, err := f.UpdateClient(ctx, f.administrator, id, service.ClientChange{Suspended: new(true)})
			require.NoError(t, err)
			require.Equal(t, suspended, again, "a repetition keeps the time")
			require.Contains(t, f.log.String(),
				fmt.Sprintf(`msg="client suspended" client=%d by=administrator:k`, id))
			restored, err := f.UpdateClient(ctx, f.administrator, id, service.ClientChange{Suspended: new(false)})
			require.NoError(t, err)
			require.Zero(t, restored.SuspendedAt)
			_, err = identify()
			require.NoError(t, err)
			require.Contains(t, f.log.String(),
				fmt.Sprintf(`msg="client restored" client=%d by=administrator:k`, id))
		}
	})
}

// Other processes of the gateway refuse a suspended client's API key soon.
func TestSuspensionReachesOtherGateways(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx, other := t.Context(), f.authenticator(t)
		text, _, err := f.CreateKey(ctx, f.openAI, service.KeyRequest{Name: "k"})
		require.NoError(t, err)
		identify := func() error {
			r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
			r.Header.Set("Authorization", "Bearer "+text.Reveal())
			_, err := other.Identify(r)
			return err
		}
		require.NoError(t, identify())
		_, err = f.UpdateClient(ctx, f.administrator, f.openAI.ID, service.ClientChange{Suspended: new(true)})
		require.NoError(t, err)
		require.Eventually(t, func() bool { return identify() != nil }, time.Minute, 10*time.Millisecond)
		refuses(t, identify(), "403 client-suspended")
	})
}

// A suspended client's negotiations stay, and end by their timeout or by the publisher. A request that the
// authenticator accepted just before the suspension opens none.
func TestNegotiationsOfASuspendedClientEnd(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		late := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
		left := f.propose(t, f.openAI, at(1500), "site-b.local").Answers[0].Negotiation.ID
		ofNetwork := f.propose(t, f.anonymous, at(1500), "site-a.local").Answers[0].Negotiation.ID
		network, err := f.store.ClientBySubject(ctx, store.ClientAnonymous, f.anonymous.LimitKey())
		require.NoError(t, err)
		for _, id := range []int64{f.openAI.ID, network.ID} {
			_, err := f.UpdateClient(ctx, f.administrator, id, service.ClientChange{Suspended: new(true)})
			require.NoError(t, err)
		}
		for _, caller := range []identity.Caller{f.openAI, f.anonymous} {
			_, err := f.Propose(ctx, caller, service.ProposeRequest{
				Proposals: []service.Proposal{{"site-b.local", at(1500)}},
			})
			fails(t, err, service.Forbidden, identity.CodeSuspended)
		}
		_, err = f.Counter(ctx, f.anonymous, service.CounterRequest{Negotiation: ofNetwork, Terms: at(1600)})
		fails(t, err, service.Forbidden, identity.CodeSuspended)
		_, err = f.Status(ctx, f.anonymous, ofNetwork)
		fails(t, err, service.Forbidden, identity.CodeSuspended)
		_, err = f.Leave(ctx, f.siteB, service.LeaveRequest{Negotiation: left, Reason: engine.LeaveOther})
		require.NoError(t, err)
		f.offset.Add(int64(2 * time.Hour))
		_, err = f.store.Sweep(ctx, store.MaxSweep)
		require.NoError(t, err)
		for id, want := range map[string]engine.Status{
			late: engine.TimedOut, ofNetwork: engine.TimedOut, left: engine.Rejected,
		} {
			n, err := f.store.Negotiation(ctx, id)
			require.NoError(t, err)
			require.Equal(t, want, n.Status)
		}
	})
}

// A new public key is valid at once, and the former one no longer, for any client.
func TestPublicKeyIsReplacedAndRevoked(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx, gateway := t.Context(), f.authenticator(t)
		const bot = "https://bot.example"
		for name, agent := range map[string]string{"Signer": "", "Bot": bot} {
			private, public := newPublicKey(t)
			next, nextPublic := newPublicKey(t)
			client, err := f.RegisterClient(ctx, f.administrator,
				service.Client{Name: name, PublicKey: public, Agent: agent})
			require.NoError(t, err)
			identify := func(key ed25519.PrivateKey) (identity.Caller, error) {
				return gateway.Identify(signed(t, httpsig.Transport{Key: key, Agent: agent}))
			}
			replace := func(id int64, public string) (service.Client, error) {
				return f.UpdateClient(ctx, f.administrator, id, service.ClientChange{PublicKey: &public})
			}
			_, err = identify(next)
			refuses(t, err, "401 signature-key-unknown")
			replaced, err := replace(client.ID, nextPublic)
			require.NoError(t, err)
			require.Equal(t, []any{nextPublic, agent}, []any{replaced.PublicKey, replaced.Agent})
			require.Contains(t, f.log.String(),
				fmt.Sprintf(`msg="public key of a client replaced" client=%d by=administrator:k`, client.ID))
			caller, err := identify(next)
			require.NoError(t, err)
			require.Equal(t, client.ID, caller.ID)
			_, err = identify(private)
			refuses(t, err, "401 signature-key-revoked")
			unsigned := signed(t, httpsig.Transport{Key: private, Agent: agent})
			unsigned.Method = "PUT"
			_, err = gateway.Identify(unsigned)
			refuses(t, err, "401 signature-invalid")

			for range 2 {
				revoked, err := f.RevokePublicKey(ctx, f.administrator, client.ID)
				require.NoError(t, err)
				require.Equal(t, f.store.Now(), revoked.KeyRevokedAt)
			}
			require.Contains(t, f.log.String(),
				fmt.Sprintf(`msg="public key of a client revoked" client=%d by=administrator:k`, client.ID))
			_, err = identify(next)
			refuses(t, err, "401 signature-key-revoked")
			for _, former := range []string{public, nextPublic} {
				_, err = replace(client.ID, former)
				taken := fails(t, err, service.Conflict, service.CodeFormerKey)
				require.Equal(t, "public_key", taken.Field)
				// Nor does another client get it for another way of signing.
				_, err = f.RegisterClient(ctx, f.administrator,
					service.Client{Name: name + " elsewhere", PublicKey: former, Agent: "https://elsewhere.example"})
				fails(t, err, service.Conflict, service.CodeFormerKey)
			}
			_, err = f.RegisterClient(ctx, f.administrator,
				service.Client{Name: name + " again", PublicKey: public, Agent: agent})
			fails(t, err, service.Conflict, service.CodeFormerKey)
			third, thirdPublic := newPublicKey(t)
			valid, err := replace(client.ID, thirdPublic)
			require.NoError(t, err)
			require.Zero(t, valid.KeyRevokedAt)
			_, err = identify(third)
			require.NoError(t, err)
			same, err := replace(client.ID, thirdPublic)
			require.NoError(t, err)
			require.Equal(t, valid, same)
			_, free := newPublicKey(t)
			other, err := f.RegisterClient(ctx, f.administrator,
				service.Client{Name: name + " other", PublicKey: free, Agent: agent})
			require.NoError(t, err)
			_, err = replace(other.ID, thirdPublic)
			taken := fails(t, err, service.Conflict, service.CodeExists)
			require.Equal(t, "public_key: another client has the key; choose another one", taken.Detail)
			_, err = replace(client.ID, "short")
			require.Equal(t, "public_key", fails(t, err, service.Invalid, "invalid").Field)
		}
	})
}

func TestOnlyAdministratorsChangeClients(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		for _, caller := range []identity.Caller{f.openAI, f.siteA, f.anonymous} {
			_, err := f.UpdateClient(ctx, caller, f.openAI.ID, service.ClientChange{})
			fails(t, err, service.Forbidden, "scope-missing")
			_, err = f.RevokePublicKey(ctx, caller, f.openAI.ID)
			fails(t, err, service.Forbidden, "scope-missing")
		}
		_, err := f.UpdateClient(ctx, f.administrator, 99, service.ClientChange{})
		fails(t, err, service.NotFound, "not_found")
		_, public := newPublicKey(t)
		_, err = f.UpdateClient(ctx, f.administrator, f.openAI.ID,
			service.ClientChange{PublicKey: &public, Suspended: new(true)})
		fails(t, err, service.Conflict, service.CodeClientKind)
		_, err = f.RevokePublicKey(ctx, f.administrator, f.openAI.ID)
		fails(t, err, service.Conflict, service.CodeClientKind)
		unchanged, err := f.Client(ctx, f.administrator, f.openAI.ID)
		require.NoError(t, err)
		require.Zero(t, unchanged.SuspendedAt)
	})
}

// The operator of a database with confusable names gets a warning for each.
func TestConfusableNamesAreLogged(t *testing.T) {
	f := newFixture(t, "sqlite:"+filepath.Join(t.TempDir(), "gateway.db"))
	require.NoError(t, f.WarnOfConfusableNames(t.Context()))
	require.NotContains(t, f.log.String(), "confusable")
	writer, err := f.store.Writer()
	require.NoError(t, err)
	_, err = writer.ExecContext(t.Context(), `UPDATE clients SET name_key = NULL, skeleton = NULL WHERE name = 'OpenAI'`)
	require.NoError(t, err)
	require.NoError(t, f.WarnOfConfusableNames(t.Context()))
	require.Contains(t, f.log.String(),
		fmt.Sprintf(`level=WARN msg="name is confusable with an earlier one" client=%d name=OpenAI`, f.openAI.ID))
}
