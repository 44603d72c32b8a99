package license

import (
	"encoding/json"
	"time"

	"github.com/haggle-protocol/haggle/sdk/amount"
)

// micros is the number of decimals in a micro-unit price.
const micros = 6

// License is a license: the rule that the publisher's server enforces for the client.
type License struct {
	ID            int64    `json:"policy_id"`
	PublisherID   int64    `json:"publisher_id"`
	ClientID      int64    `json:"client_id"`
	NegotiationID string   `json:"negotiation_id"`
	Policy        Document `json:"policy_json"`
	// CreatedAt is when the license was generated.
	CreatedAt time.Time `json:"created_at"`
	// RevokedAt is unset if the license is valid.
	RevokedAt time.Time `json:"revoked_at,omitzero"`
}

// Document is the license as the publisher's server reads it.
type Document struct {
	Version   string `json:"version"`
	Publisher string `json:"publisher"`
	Rules     []Rule `json:"rules"`
}

// Rule is an agent's permission under a license.
type Rule struct {
	// Agent is the verified name of the client.
	Agent string `json:"agent"`
	Allow bool   `json:"allow"`
	// PricePerFetch is an exact decimal amount of the publisher's currency.
	PricePerFetch   json.Number `json:"price_per_fetch"`
	TokenTTLSeconds uint32      `json:"token_ttl_seconds"`
	// MaxRPS is the maximum request rate per second.
	MaxRPS         uint32    `json:"max_rps"`
	Purposes       []Purpose `json:"purpose"`
	PrepaidFetches uint64    `json:"prepaid_fetches"`
	ValidUntil     time.Time `json:"valid_until"`
}

// grants reports whether the rule permits the agreed terms, at their price.
func (r Rule) grants(agreed Terms) bool {
	price, err := amount.Parse(r.PricePerFetch.String())
	if err != nil || price.InUnits() {
		return false
	}
	micro, err := price.In(micros)
	return err == nil && r.Allow && agreed.same(Terms{
		PriceMicro: micro, TokenTTLSeconds: r.TokenTTLSeconds, BurstRPS: r.MaxRPS, Purposes: r.Purposes,
		PrepaidFetches: r.PrepaidFetches,
	})
}
