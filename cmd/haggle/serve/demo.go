package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// demoPublishers are the publishers of --demo with their strategies.
var demoPublishers = []struct {
	publisher store.Publisher
	strategy  string
}{
	{
		store.Publisher{
			Hostname: "site-a.local", Name: "Site A", Currency: "USD", FloorMicro: 500, Active: true,
		},
		`{"negotiation_style": "balanced", "published_floor_micro": 500, "min_price_per_fetch_micro": 1000,
		"preferred_price_per_fetch_micro": 2000, "max_price_per_fetch_micro": 5000,
		"allowed_purposes": ["inference", "search", "summarization"], "approval_above_micro": 100000000}`,
	},
	{
		store.Publisher{Hostname: "site-b.local", Name: "Site B", Currency: "USD", Active: true},
		`{"negotiation_style": "cooperative", "min_price_per_fetch_micro": 2000,
		"preferred_price_per_fetch_micro": 4000, "max_price_per_fetch_micro": 8000,
		"allowed_purposes": ["inference", "retrieval", "training"],
		"volume_tiers": [{"from_fetches": 100000, "price_per_fetch_micro": 3150}]}`,
	},
}

// demoCompanies are the clients of --demo.
var demoCompanies = []string{"Acme AI", "Example Search"}

// seed adds the publishers and companies of --demo to a database without them.
func seed(ctx context.Context, cases *service.Service) (parties []partyView, err error) {
	operator := identity.Caller{
		Kind: identity.Administrator, Name: "demo", Scopes: identity.ScopesOf(identity.Administrator),
	}
	add := func(role, name string, id int64, request service.KeyRequest) error {
		request.Name = "demo"
		key, _, err := cases.CreateKey(ctx, operator, request)
		parties = append(parties, partyView{role, name, id, key.Reveal()})
		return err
	}
	for _, entry := range demoPublishers {
		p, err := cases.CreatePublisher(ctx, operator, entry.publisher, "")
		if err != nil {
			return nil, seeded(err)
		}
		caller := identity.Caller{
			Kind: identity.Publisher, ID: p.ID, Scopes: identity.ScopesOf(identity.Publisher),
		}
		if _, err := cases.CreateStrategy(ctx, caller, []byte(entry.strategy), ""); err != nil {
			return nil, err
		}
		if err := add("publisher", p.Hostname, p.ID, service.KeyRequest{PublisherID: p.ID}); err != nil {
			return nil, err
		}
	}
	for _, name := range demoCompanies {
		client, err := cases.RegisterClient(ctx, operator, service.Client{Name: name})
		if err != nil {
			return nil, seeded(err)
		}
		if err := add("client", name, client.ID, service.KeyRequest{ClientID: client.ID}); err != nil {
			return nil, err
		}
	}
	return parties, nil
}

// seeded replaces the error for a database that has the parties already.
func seeded(err error) error {
	var known *service.Error
	if errors.As(err, &known) && known.Code == service.CodeExists {
		return &exitcode.Error{
			Kind: exitcode.Refused, Err: fmt.Errorf("--demo: %w", err),
			Hint: "leave out --demo to use this database, or --db to use a temporary one",
		}
	}
	return err
}
