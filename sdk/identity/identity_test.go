package identity_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/identity"
)

var (
	friend   = solana.MustPublicKeyFromBase58("4pXssUVLhmmxGQifWJybizi2rwVDxQDaSafDc4uLpTVu")
	stranger = solana.MustPublicKeyFromBase58("9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g")
)

func says(trust identity.Trust, err error) identity.Source {
	return identity.SourceFunc(func(context.Context, solana.PublicKey) (identity.Trust, error) { return trust, err })
}

func TestGate(t *testing.T) {
	down := errors.New("down")
	known := func(score float64) identity.Source { return says(identity.Trust{Score: score, Registered: true}, nil) }
	for name, c := range map[string]struct {
		gate   identity.Gate
		lets   bool
		reason string
	}{
		"exactly enough":         {identity.Gate{Source: known(60), Threshold: 60}, true, ""},
		"too little":             {identity.Gate{Source: known(59.9), Threshold: 60}, false, "59.9"},
		"not known":              {identity.Gate{Source: says(identity.Trust{Score: 100}, nil)}, false, "unknown agent"},
		"not verified":           {identity.Gate{Source: known(100), RequireVerified: true}, false, "not verified"},
		"verified":               {identity.Gate{Source: says(identity.Trust{Registered: true, Verified: true}, nil), RequireVerified: true}, true, ""},
		"no source":              {identity.Gate{}, false, "no source"},
		"no answer":              {identity.Gate{Source: says(identity.Trust{Score: 100, Registered: true}, down)}, false, "down"},
		"a score beyond 100":     {identity.Gate{Source: known(101)}, false, "between 0 and 100"},
		"a score below 0":        {identity.Gate{Source: known(-1)}, false, "between 0 and 100"},
		"a score of NaN":         {identity.Gate{Source: known(math.NaN())}, false, "between 0 and 100"},
		"a threshold of NaN":     {identity.Gate{Source: known(100), Threshold: math.NaN()}, false, "threshold"},
		"a threshold beyond 100": {identity.Gate{Source: known(100), Threshold: 101}, false, "threshold"},
		"a threshold below 0":    {identity.Gate{Source: known(100), Threshold: -1}, false, "threshold"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.gate.Check(context.Background(), friend)
			if c.lets {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, identity.ErrRefused)
			require.ErrorContains(t, err, c.reason)
			require.ErrorContains(t, err, friend.String())
			var refusal *identity.Refusal
			require.True(t, errors.As(err, &refusal))
			require.Equal(t, friend, refusal.Agent)
		})
	}
	gate := identity.Gate{Source: says(identity.Trust{}, down)}
	require.ErrorIs(t, gate.Check(context.Background(), friend), down)
}

// An agent with the gate declines refused counterparties for good, and checks again if the source failed.
func TestAdmit(t *testing.T) {
	seen := &haggle.Snapshot{}
	seen.Buyer, seen.Seller = friend, stranger
	known := identity.SourceFunc(func(_ context.Context, agent solana.PublicKey) (identity.Trust, error) {
		return identity.Trust{Score: 60, Registered: agent == friend}, nil
	})
	gate := &identity.Gate{Source: known, Threshold: 60}
	require.NoError(t, gate.Admit(stranger)(t.Context(), seen), "a seller checks the buyer")
	err := gate.Admit(friend)(t.Context(), seen)
	require.ErrorIs(t, err, agent.ErrRefused, "a buyer checks the seller")
	require.ErrorIs(t, err, identity.ErrRefused)
	require.ErrorContains(t, err, stranger.String())
	require.NotContains(t, err.Error(), "\n")

	down := errors.New("down")
	gate.Source = says(identity.Trust{}, down)
	err = gate.Admit(stranger)(t.Context(), seen)
	require.ErrorIs(t, err, down)
	require.NotErrorIs(t, err, agent.ErrRefused, "an unreachable registry is queried again")
	require.NotErrorIs(t, err, identity.ErrRefused)
}

func TestFirstOf(t *testing.T) {
	down := errors.New("down")
	low := says(identity.Trust{Score: 10, Registered: true}, nil)
	high := says(identity.Trust{Score: 90, Registered: true}, nil)
	ignorant := says(identity.Trust{}, nil)
	for _, c := range []struct {
		source identity.Source
		score  float64
		err    error
	}{
		{identity.FirstOf(ignorant, low, high), 10, nil},
		{identity.FirstOf(high, low), 90, nil},
		{identity.FirstOf(ignorant), 0, nil},
		{identity.FirstOf(), 0, nil},
		{identity.FirstOf(says(identity.Trust{}, down), high), 0, down},
	} {
		trust, err := c.source.Trust(context.Background(), friend)
		require.ErrorIs(t, err, c.err)
		require.Equal(t, c.score, trust.Score)
	}
}

// registry is a registry server with replaceable responses.
type registry struct {
	*httptest.Server
	asked  atomic.Int64
	lock   sync.Mutex
	status int
	body   string
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.asked.Add(1)
		if request.Header.Get("Authorization") != "Bearer sekrit" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.lock.Lock()
		defer r.lock.Unlock()
		w.WriteHeader(r.status)
		fmt.Fprint(w, strings.ReplaceAll(r.body, "WALLET", strings.TrimPrefix(request.URL.Path, "/v1/api/verify/")))
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *registry) say(status int, body string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.status, r.body = status, body
}

const verified = `{"wallet":"WALLET","registered":true,"verified":true,"trustScore":{"score":72.5,"tier":"gold"},"identity":{"name":"x"}}`

func TestRegistry(t *testing.T) {
	server := newRegistry(t)
	source, err := identity.NewRegistry(identity.RegistryConfig{Endpoint: server.URL + "/v1", APIKey: "sekrit", CacheFor: -1, Timeout: time.Second})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		status int
		body   string
		want   identity.Trust
		fails  bool
	}{
		"verified":              {200, verified, identity.Trust{Score: 72.5, Registered: true, Verified: true}, false},
		"not registered":        {200, `{"wallet":"WALLET","registered":false,"trustScore":{"score":100}}`, identity.Trust{}, false},
		"not known":             {404, `{}`, identity.Trust{}, false},
		"about another agent":   {200, strings.ReplaceAll(verified, "WALLET", stranger.String()), identity.Trust{}, true},
		"about no agent":        {200, `{"registered":true,"trustScore":{"score":100}}`, identity.Trust{}, true},
		"without a score":       {200, `{"wallet":"WALLET","registered":true}`, identity.Trust{}, true},
		"with half a score":     {200, `{"wallet":"WALLET","registered":true,"trustScore":{}}`, identity.Trust{}, true},
		"with too high a score": {200, `{"wallet":"WALLET","registered":true,"trustScore":{"score":1000}}`, identity.Trust{}, true},
		"with text for a score": {200, `{"wallet":"WALLET","registered":true,"trustScore":{"score":"100"}}`, identity.Trust{}, true},
		"nonsense":              {200, `<html>`, identity.Trust{}, true},
		"nothing":               {200, ``, identity.Trust{}, true},
		"broken":                {500, `{}`, identity.Trust{}, true},
		"elsewhere":             {302, `{}`, identity.Trust{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			server.say(c.status, c.body)
			trust, err := source.Trust(context.Background(), friend)
			require.Equal(t, c.fails, err != nil, "%v", err)
			require.Equal(t, c.want, trust)
			gate := identity.Gate{Source: source, Threshold: 50}
			require.Equal(t, c.want.Verified, gate.Check(context.Background(), friend) == nil)
			if err != nil {
				require.NotContains(t, err.Error(), "sekrit")
				require.NotContains(t, err.Error(), "/v1")
			}
		})
	}
	require.NotContains(t, fmt.Sprintf("%+v %#v", source, source), "sekrit")
}

// Responses are cached for a while. Failures are not, and do not prolong a cached response.
func TestRegistryCache(t *testing.T) {
	server := newRegistry(t)
	now := time.Unix(1_000_000, 0)
	source, err := identity.NewRegistry(identity.RegistryConfig{
		Endpoint: server.URL + "/v1", APIKey: "sekrit", CacheFor: time.Minute, Now: func() time.Time { return now },
	})
	require.NoError(t, err)
	server.say(200, verified)
	gate := identity.Gate{Source: source, Threshold: 50}
	check := func() error { return gate.Check(context.Background(), friend) }
	require.NoError(t, check())
	server.say(403, "")
	now = now.Add(time.Minute - 1)
	require.NoError(t, check())
	require.EqualValues(t, 1, server.asked.Load())
	require.ErrorIs(t, gate.Check(context.Background(), stranger), identity.ErrRefused, "the cache is per agent")
	now = now.Add(1)
	require.ErrorIs(t, check(), identity.ErrRefused)
	require.ErrorIs(t, check(), identity.ErrRefused)
	require.EqualValues(t, 4, server.asked.Load())
	server.say(200, verified)
	require.NoError(t, check(), "failures are not cached")
	server.say(403, "")
	now = now.Add(-time.Hour)
	require.ErrorIs(t, check(), identity.ErrRefused, "the clock has been set back")
}

func TestRegistryConfig(t *testing.T) {
	for _, endpoint := range []string{"", "http://registry.example", "https://user:sekrit@registry.example", "ftp://registry.example"} {
		_, err := identity.NewRegistry(identity.RegistryConfig{Endpoint: endpoint})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "sekrit")
	}
}

func TestAllowlist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "allowed")
	write := func(text string) {
		require.NoError(t, os.WriteFile(path+"~", []byte(text), 0o600))
		require.NoError(t, os.Rename(path+"~", path))
	}
	write("# whom we trust\n\n" + friend.String() + " 70 # since last year\n")
	list, err := identity.OpenAllowlist(path)
	require.NoError(t, err)
	gate := identity.Gate{Source: list, Threshold: 60, RequireVerified: true}
	check := func(agent solana.PublicKey) error { return gate.Check(context.Background(), agent) }
	require.NoError(t, check(friend))
	require.ErrorIs(t, check(stranger), identity.ErrRefused)

	write(friend.String() + " 50\n" + stranger.String())
	require.ErrorIs(t, check(friend), identity.ErrRefused)
	require.NoError(t, check(stranger))

	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, check(stranger), os.ErrNotExist, "without the file no agent is admitted")
	write("nonsense")
	require.ErrorIs(t, check(stranger), identity.ErrRefused)
	write(stranger.String())
	require.NoError(t, check(stranger))

	// The same file, rewritten in place with the same length within the same tick of the clock.
	require.NoError(t, os.WriteFile(path, []byte(friend.String()), 0o600))
	require.Equal(t, len(friend.String()), len(stranger.String()))
	require.NoError(t, check(friend))
	require.ErrorIs(t, check(stranger), identity.ErrRefused)
}

// Unchanged files are not read again.
func TestAllowlistIsReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "allowed")
	require.NoError(t, os.WriteFile(path, []byte(friend.String()), 0o600))
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(path, old, old))
	list, err := identity.OpenAllowlist(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(stranger.String()), 0o600))
	require.NoError(t, os.Chtimes(path, old, old)) // only a test does this
	trust, err := list.Trust(context.Background(), friend)
	require.NoError(t, err)
	require.True(t, trust.Registered)
}

func TestDamagedAllowlists(t *testing.T) {
	for text, line := range map[string]int{
		"x": 1, "\n" + friend.String() + " 101": 2, friend.String() + " -1": 1, friend.String() + " NaN": 1, friend.String() + " 1 2": 1,
		friend.String() + "\n" + friend.String() + " 5": 2, friend.String() + "\n" + strings.Repeat("x", 1<<17): 2,
	} {
		path := filepath.Join(t.TempDir(), "allowed")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := identity.OpenAllowlist(path)
		var damaged *identity.AllowlistError
		require.True(t, errors.As(err, &damaged), "%v", err)
		require.Equal(t, line, damaged.Line)
		require.Equal(t, path, damaged.Path)
	}
}
