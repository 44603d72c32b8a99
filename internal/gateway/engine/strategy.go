package engine

import (
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/strictjson"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// One is the score 1: scores and thresholds are in millionths.
const One terms.Decimal = 1_000_000

// DefaultApprovalAbove is the default approval_above_micro: 1,000 units of the currency.
const DefaultApprovalAbove = 1_000_000_000

// MaxApprovalAbove is the highest approval_above_micro, about 9 billion units of the currency.
const MaxApprovalAbove = maxExact

// MaxStrategySize limits JSON strategy documents, in bytes.
const MaxStrategySize = 64 * 1024

// Strategy is a publisher's rules in a given version. Prices are micro units of Currency for each fetch. The
// minimum is hidden: see the package comment. Only [PublicFacts] are shown to clients.
type Strategy struct {
	PublisherID int64  `json:"publisher_id"`
	Name        string `json:"strategy_name"`
	// Version numbers the strategy's versions, from 1.
	Version uint32 `json:"version"`
	Style   Style  `json:"negotiation_style"`
	// Currency is 3 to 12 capital letters and digits, such as USD or USDC.
	Currency string `json:"currency"`

	// PublishedFloor is public: a lower price is rejected. See also [Strategy.Floor].
	PublishedFloor uint64 `json:"published_floor_micro"`
	// MinPrice is hidden: a lower price is never accepted.
	MinPrice uint64 `json:"min_price_per_fetch_micro"`
	// PreferredPrice is the lowest price with the full score.
	PreferredPrice uint64 `json:"preferred_price_per_fetch_micro"`
	// MaxPrice is the highest counter offer price. Higher proposals can be accepted.
	MaxPrice uint64 `json:"max_price_per_fetch_micro"`

	MinTTLSeconds       uint32 `json:"min_token_ttl_seconds"`
	PreferredTTLSeconds uint32 `json:"preferred_token_ttl_seconds"`
	MaxTTLSeconds       uint32 `json:"max_token_ttl_seconds"`
	MinBurstRPS         uint32 `json:"min_burst_rps"`
	PreferredBurstRPS   uint32 `json:"preferred_burst_rps"`
	MaxBurstRPS         uint32 `json:"max_burst_rps"`

	// AllowedPurposes lists the uses that a license can permit: at least one.
	AllowedPurposes []terms.Purpose `json:"allowed_purposes"`
	// PreferredPurposes are part of the score, and allowed. If empty, all purposes get the full score.
	PreferredPurposes []terms.Purpose `json:"preferred_purposes"`
	// DealBreakers end a negotiation. See [DealBreaker].
	DealBreakers []DealBreaker `json:"deal_breakers"`
	// Tiers are preferred prices for prepaid fetches. They are public.
	Tiers []Tier `json:"volume_tiers"`

	// MaxRounds is how many proposals are answered, 1 to 100.
	MaxRounds uint32 `json:"max_rounds"`
	// AutoAcceptThreshold is the score that makes a proposal accepted at once, 0 to [One].
	AutoAcceptThreshold terms.Decimal `json:"auto_accept_threshold"`
	// TimeoutSeconds is how long a negotiation lasts without activity.
	TimeoutSeconds uint32 `json:"timeout_seconds"`
	// ApprovalAbove is the highest price that needs no approval by the publisher, in micro units, for all
	// prepaid fetches, or for a single fetch if none are prepaid: 0 to [MaxApprovalAbove],
	// [DefaultApprovalAbove] if the strategy does not set it. No value turns the approval off.
	ApprovalAbove uint64 `json:"approval_above_micro"`
	// ApprovalSeconds is the time for approval.
	ApprovalSeconds uint32 `json:"approval_seconds"`
	// LicenseSeconds is a license's validity after the agreement.
	LicenseSeconds uint32 `json:"license_seconds"`

	// ValidFrom and ValidUntil limit the negotiations that the version is used for, by their start: from
	// ValidFrom on, and before ValidUntil. If zero, there is no limit.
	ValidFrom  time.Time `json:"valid_from,omitzero"`
	ValidUntil time.Time `json:"valid_until,omitzero"`
	// Hours lists the hours of the day, in TimeZone, when negotiations can start. If empty, all hours.
	Hours []Hours `json:"hours"`
	// TimeZone is a name of the IANA database, such as Europe/Berlin, or UTC.
	TimeZone string `json:"time_zone"`
	IsActive bool   `json:"is_active"`

	// LLMProvider and LLMModel name a language model of the gateway, which chooses counter offers in the band of the
	// rules. The rules themselves do not use it. SystemPrompt tells the model what the publisher wants.
	LLMProvider string `json:"llm_provider"`
	LLMModel    string `json:"llm_model"`
	// LLMTemperature is the sampling temperature, 0 to 2. If nil, the model's default is used. Some models
	// accept none.
	LLMTemperature *terms.Decimal `json:"llm_temperature,omitempty"`
	SystemPrompt   string         `json:"system_prompt"`
}

// NewStrategy returns a strategy with the defaults of all fields but the prices, which are 0.
func NewStrategy() Strategy {
	return Strategy{
		Name: "default", Version: 1, Style: Balanced, Currency: "USD",
		PreferredTTLSeconds: 600, MaxTTLSeconds: 86_400,
		MinBurstRPS: 1, PreferredBurstRPS: 10, MaxBurstRPS: 100,
		AllowedPurposes:   []terms.Purpose{terms.Inference},
		PreferredPurposes: []terms.Purpose{terms.Inference},
		DealBreakers:      []DealBreaker{}, Tiers: []Tier{}, Hours: []Hours{},
		MaxRounds: 10, AutoAcceptThreshold: 900_000, TimeoutSeconds: 3_600,
		ApprovalAbove: DefaultApprovalAbove, ApprovalSeconds: 86_400, LicenseSeconds: 30 * 86_400,
		TimeZone: "UTC", IsActive: true,
	}
}

// ParseStrategy reads and validates a strategy from a JSON object. The three prices must be present; other
// missing fields get the defaults of [NewStrategy]. It returns an error with [strictjson.ErrInvalid] or
// [ErrStrategy].
func ParseStrategy(data []byte) (Strategy, error) {
	s := NewStrategy()
	err := strictjson.Decode(data, MaxStrategySize, &s, "min_price_per_fetch_micro",
		"preferred_price_per_fetch_micro", "max_price_per_fetch_micro")
	if err != nil {
		return Strategy{}, err
	}
	s.ValidFrom, s.ValidUntil = s.ValidFrom.UTC(), s.ValidUntil.UTC()
	if err := s.Validate(); err != nil {
		return Strategy{}, err
	}
	return s, nil
}

// Floor returns the effective published floor: the lowest price that neither the published floor nor a deal
// breaker on the price rejects.
func (s *Strategy) Floor() uint64 {
	floor := s.PublishedFloor
	for _, breaker := range s.DealBreakers {
		switch {
		case breaker.Field != FieldPrice:
		case breaker.Operator == Less:
			floor = max(floor, breaker.Value.Number)
		case breaker.Operator == LessOrEqual:
			floor = max(floor, breaker.Value.Number+1)
		}
	}
	return floor
}

// PublicFacts holds the strategy facts that clients may read. It contains no limits and no preferences.
type PublicFacts struct {
	Style    Style           `json:"negotiation_style"`
	Currency string          `json:"currency"`
	Purposes []terms.Purpose `json:"allowed_purposes"`
	Floor    uint64          `json:"published_floor_micro"`
	Tiers    []Tier          `json:"volume_tiers"`
}

// Public returns the public facts.
func (s *Strategy) Public() PublicFacts {
	return PublicFacts{
		Style: s.Style, Currency: s.Currency, Purposes: s.AllowedPurposes, Floor: s.Floor(), Tiers: s.Tiers,
	}
}

// Tier is a preferred price for many prepaid fetches.
type Tier struct {
	// From is the lowest number of prepaid fetches with the preferred price, from 1.
	From uint64 `json:"from_fetches"`
	// Price is in micro units: at least the minimum, at most the price of the tier before.
	Price uint64 `json:"price_per_fetch_micro"`
}

// preferredPrice returns the preferred price for a number of prepaid fetches.
func (s *Strategy) preferredPrice(prepaid uint64) uint64 {
	price := s.PreferredPrice
	for _, tier := range s.Tiers {
		if prepaid >= tier.From {
			price = tier.Price
		}
	}
	return price
}
