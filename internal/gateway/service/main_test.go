package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/store/storetest"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

var server *testpostgres.Server

func TestMain(m *testing.M) { os.Exit(testpostgres.Run(m, &server)) }

// onBoth runs a test on an empty database of each kind.
func onBoth(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	storetest.OnBoth(t, server, func(t *testing.T, d storetest.Database) { test(t, newFixture(t, d.Address)) })
}

// fixture is a service with an administrator, two publishers and two clients.
type fixture struct {
	*service.Service
	store          *store.Store
	address        string
	log            bytes.Buffer
	offset         atomic.Int64
	administrator  identity.Caller
	siteA, siteB   identity.Caller
	openAI, claude identity.Caller
	anonymous      identity.Caller
}

func newFixture(t *testing.T, address string) *fixture {
	t.Helper()
	f := &fixture{
		address: address,
		administrator: identity.Caller{
			Kind: identity.Administrator, Scopes: identity.ScopesOf(identity.Administrator), KeyID: "k",
		},
		anonymous: identity.Caller{
			Kind: identity.Anonymous, Scopes: identity.ScopesOf(identity.Anonymous),
			Address: netip.MustParsePrefix("203.0.113.0/24"),
		},
	}
	start := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	var err error
	f.store, err = store.Open(t.Context(), store.Config{
		Address: address, Limits: store.Limits{OpenPerClient: 4, OpenPerPublisher: 4},
		Now: func() time.Time { return start.Add(time.Duration(f.offset.Load())) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.store.Close()) })
	f.Service, err = service.New(service.Config{
		Store: f.store, Log: slog.New(slog.NewTextHandler(&f.log, nil)),
	})
	require.NoError(t, err)
	f.siteA, f.siteB = f.publisher(t, "site-a.local"), f.publisher(t, "site-b.local")
	f.openAI, f.claude = f.client(t, "OpenAI"), f.client(t, "Anthropic")
	return f
}

// strategy is used by both publishers.
const strategy = `{"min_price_per_fetch_micro": 1000, "preferred_price_per_fetch_micro": 2000,
	"max_price_per_fetch_micro": 5000, "published_floor_micro": 500, "approval_above_micro": 100000000}`

func (f *fixture) publisher(t *testing.T, hostname string) identity.Caller {
	t.Helper()
	p, err := f.CreatePublisher(t.Context(), f.administrator, store.Publisher{
		Hostname: hostname, Name: hostname, Currency: "USD", Active: true,
	}, "")
	require.NoError(t, err)
	caller := identity.Caller{
		Kind: identity.Publisher, ID: p.ID, Name: p.Name, Scopes: identity.ScopesOf(identity.Publisher),
	}
	_, err = f.CreateStrategy(t.Context(), caller, []byte(strategy), "")
	require.NoError(t, err)
	return caller
}

func (f *fixture) client(t *testing.T, name string) identity.Caller {
	t.Helper()
	c, err := f.RegisterClient(t.Context(), f.administrator, service.Client{Name: name})
	require.NoError(t, err)
	return identity.Caller{
		Kind: identity.Client, ID: c.ID, Name: name, Scopes: identity.ScopesOf(identity.Client),
	}
}

func at(price uint64) terms.Terms {
	return terms.Terms{
		Price: price, TTLSeconds: 600, BurstRPS: 10, Purposes: []terms.Purpose{terms.Inference},
	}
}

// prepaid returns terms with a total price that needs the publisher's approval.
func prepaid(price uint64) terms.Terms {
	t := at(price)
	t.PrepaidFetches = 1_000_000
	return t
}

func (f *fixture) propose(
	t *testing.T, caller identity.Caller, proposed terms.Terms, hostnames ...string,
) service.Proposed {
	t.Helper()
	var r service.ProposeRequest
	for _, hostname := range hostnames {
		r.Proposals = append(r.Proposals, service.Proposal{Publisher: hostname, Terms: proposed})
	}
	p, err := f.Propose(t.Context(), caller, r)
	require.NoError(t, err)
	return p
}

// fails asserts an error's kind and code, and returns the error.
func fails(t *testing.T, err error, kind service.Kind, code string) *service.Error {
	t.Helper()
	var failure *service.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, fmt.Sprint(kind, " ", code), fmt.Sprint(failure.Kind, " ", failure.Code), "%s", failure)
	return failure
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}
