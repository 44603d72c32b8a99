package mcp

import (
	"context"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

type statusArguments struct {
	Negotiation string      `json:"negotiation_id"`
	Wait        waitSeconds `json:"wait_seconds,omitempty"`
}

// StatusAnswer is a negotiation with the history. It contains no analysis, not even for the publisher.
type StatusAnswer struct {
	Negotiation *service.Negotiation `json:"negotiation,omitempty"`
	Rounds      []Round              `json:"rounds,omitempty"`
	LicenseURI  string               `json:"license_uri,omitempty" jsonschema:"resource of the license"`
	common
}

// Round is an entry of the history.
type Round struct {
	Number    int                 `json:"round_number"`
	Actor     engine.Party        `json:"actor"`
	Action    string              `json:"action"`
	Terms     *terms.Terms        `json:"proposed_terms,omitempty"`
	Reason    string              `json:"reasoning,omitempty"`
	Codes     []engine.ReasonCode `json:"reason_codes,omitempty"`
	CreatedAt time.Time           `json:"created_at"`
}

func (s *server) status(
	ctx context.Context, caller identity.Caller, in statusArguments,
) (StatusAnswer, error) {
	found, err := s.await(ctx, caller, in.Negotiation, time.Duration(in.Wait)*time.Second)
	if err != nil {
		return StatusAnswer{}, err
	}
	n := found.Negotiation
	n.ClientName = ""
	out := StatusAnswer{Negotiation: &n}
	for _, r := range found.Rounds {
		out.Rounds = append(out.Rounds, Round{
			Number: r.Number, Actor: r.Actor, Action: r.Action, Terms: r.Terms, Reason: r.Reason,
			Codes: r.Codes, CreatedAt: r.CreatedAt,
		})
	}
	out.LicenseURI, out.Next = s.after(ctx, caller, &n)
	return out, nil
}

type publishersArguments struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"1 to 200; default 50"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
}

// Publisher holds a publisher's public facts, except the name, which the publisher wrote.
type Publisher struct {
	Hostname   string `json:"hostname"`
	Currency   string `json:"currency"`
	FloorMicro int64  `json:"published_floor_micro" jsonschema:"lower prices are rejected; 0 for none"`
}

// PublishersAnswer is a page of publishers.
type PublishersAnswer struct {
	Publishers []Publisher `json:"publishers,omitempty"`
	NextCursor string      `json:"next_cursor,omitempty" jsonschema:"missing on the last page"`
	common
}

func (s *server) publishers(
	ctx context.Context, _ identity.Caller, in publishersArguments,
) (PublishersAnswer, error) {
	page, err := s.Service.Publishers(ctx, store.Page{Size: in.Limit, After: in.Cursor})
	if err != nil {
		return PublishersAnswer{}, err
	}
	out := PublishersAnswer{NextCursor: page.Next}
	for _, p := range page.Items {
		out.Publishers = append(out.Publishers, Publisher{p.Hostname, p.Currency, p.FloorMicro})
	}
	out.Next = "get_publisher_strategy of one of them"
	if out.NextCursor != "" {
		out.Next += ", or list_publishers with next_cursor"
	}
	return out, nil
}

type strategyArguments struct {
	Publisher string `json:"publisher_hostname"`
}

// StrategyAnswer holds a strategy's public facts.
type StrategyAnswer struct {
	Strategy *engine.PublicFacts `json:"strategy,omitempty"`
	common
}

func (s *server) publisherStrategy(
	ctx context.Context, _ identity.Caller, in strategyArguments,
) (StrategyAnswer, error) {
	facts, err := s.Service.PublicStrategy(ctx, in.Publisher)
	if err != nil {
		return StrategyAnswer{}, err
	}
	return StrategyAnswer{Strategy: &facts, common: common{
		Next: "propose_license_terms with permitted purposes and a price of at least published_floor_micro",
	}}, nil
}
