package serve

import (
	"context"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// demoPublishers lists the --demo publishers and strategies.
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

// demoCompanies lists the --demo clients.
var demoCompanies = []string{"Acme AI", "Example Search"}

// seed adds the publishers and companies of --demo to a database without them.
func seed(ctx context.Context, cases *service.Service) (views []partyView, err error) {
	added := newParties(cases, "demo")
	for _, entry := range demoPublishers {
		view, err := added.publisher(ctx, entry.publisher, []byte(entry.strategy))
		if err != nil {
			return nil, seeded(err)
		}
		views = append(views, view)
	}
	for _, name := range demoCompanies {
		view, err := added.client(ctx, name)
		if err != nil {
			return nil, seeded(err)
		}
		views = append(views, view)
	}
	return views, nil
}

// seeded replaces the error for a database that already contains the parties.
func seeded(err error) error {
	if isKnown(err) {
		return &exitcode.Error{
			Kind: exitcode.Refused, Err: fmt.Errorf("--demo: %w", err),
			Hint: "leave out --demo to use this database, or --db to use a temporary one",
		}
	}
	return err
}
