package terms

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/strictjson"
)

// LicenseVersion is the license document version.
const LicenseVersion = "1.0"

// Limits of license documents.
const (
	// MaxName limits publisher and agent names, in characters.
	MaxName = 253
	// MaxLicenseSize limits license documents, in bytes.
	MaxLicenseSize = 16 * 1024
	// maxRules limits the rules in a license.
	maxRules = 16
)

// LicenseDocument is a license as the publisher's server enforces it: the JSON field policy_json.
type LicenseDocument struct {
	// Version is [LicenseVersion].
	Version string `json:"version"`
	// Publisher is a host name.
	Publisher string `json:"publisher"`
	// Rules contains a rule for each agent, at least one.
	Rules []Rule `json:"rules"`
}

// Rule is an agent's permission.
type Rule struct {
	// Agent is the client's verified name.
	Agent string `json:"agent"`
	Allow bool   `json:"allow"`
	// PricePerFetch is in the currency of the publisher, exact.
	PricePerFetch Decimal `json:"price_per_fetch"`
	// TokenTTLSeconds is how long access tokens live, in seconds.
	TokenTTLSeconds uint32 `json:"token_ttl_seconds"`
	// MaxRPS limits requests per second.
	MaxRPS  uint32    `json:"max_rps"`
	Purpose []Purpose `json:"purpose"`
	// PrepaidFetches counts the fetches paid in advance.
	PrepaidFetches uint64 `json:"prepaid_fetches"`
	// ValidUntil is when the license ends: a UTC time in whole seconds.
	ValidUntil time.Time `json:"valid_until"`
}

// NewLicenseDocument returns the license for agreed terms. The license's end is rounded down to a whole
// second. It fails with [ErrInvalid] if terms or names are invalid, or validUntil is zero.
func NewLicenseDocument(publisher, agent string, agreed Terms, validUntil time.Time) (LicenseDocument, error) {
	normal := agreed.Normal()
	license := LicenseDocument{Version: LicenseVersion, Publisher: publisher, Rules: []Rule{{
		Agent: agent, Allow: true, PricePerFetch: Decimal(agreed.Price), TokenTTLSeconds: agreed.TTLSeconds,
		MaxRPS: agreed.BurstRPS, Purpose: normal.Purposes, PrepaidFetches: agreed.PrepaidFetches,
		ValidUntil: validUntil.UTC().Truncate(time.Second),
	}}}
	if err := license.Validate(); err != nil {
		return LicenseDocument{}, err
	}
	return license, nil
}

// ParseLicenseDocument reads and validates a license document.
func ParseLicenseDocument(data []byte) (LicenseDocument, error) {
	var license LicenseDocument
	err := strictjson.Decode(data, MaxLicenseSize, &license, "version", "publisher", "rules")
	if err != nil {
		return LicenseDocument{}, err
	}
	if err := license.Validate(); err != nil {
		return LicenseDocument{}, err
	}
	for at := range license.Rules {
		rule := &license.Rules[at]
		rule.Purpose, rule.ValidUntil = rule.Terms().Normal().Purposes, rule.ValidUntil.UTC()
	}
	return license, nil
}

// Validate returns an error with [ErrInvalid] that names the invalid field.
func (l LicenseDocument) Validate() error {
	switch {
	case l.Version != LicenseVersion:
		return fmt.Errorf("%w: version: %.40q is unknown; use %q", ErrInvalid, l.Version, LicenseVersion)
	case len(l.Rules) == 0 || len(l.Rules) > maxRules:
		return fmt.Errorf("%w: rules: %d; a license has 1 to %d", ErrInvalid, len(l.Rules), maxRules)
	}
	if err := CheckName(l.Publisher); err != nil {
		return fmt.Errorf("%w: publisher: %w", ErrInvalid, err)
	}
	for at, rule := range l.Rules {
		if err := rule.validate(); err != nil {
			return fmt.Errorf("rules[%d]: %w", at, err)
		}
		if slices.ContainsFunc(l.Rules[:at], func(other Rule) bool { return other.Agent == rule.Agent }) {
			return fmt.Errorf("%w: rules[%d]: agent %q has two rules", ErrInvalid, at, rule.Agent)
		}
	}
	return nil
}

func (r Rule) validate() error {
	if err := CheckName(r.Agent); err != nil {
		return fmt.Errorf("%w: agent: %w", ErrInvalid, err)
	}
	year := r.ValidUntil.UTC().Year()
	if r.ValidUntil.IsZero() || year > 9999 || r.ValidUntil.Nanosecond() != 0 {
		return fmt.Errorf("%w: valid_until: not set to a time in whole seconds", ErrInvalid)
	}
	return r.Terms().Validate()
}

// Terms returns the terms of the rule.
func (r Rule) Terms() Terms {
	return Terms{
		Price: uint64(r.PricePerFetch), TTLSeconds: r.TokenTTLSeconds, BurstRPS: r.MaxRPS,
		Purposes: r.Purpose, PrepaidFetches: r.PrepaidFetches,
	}
}

// Text returns the document as JSON, with the keys in field order.
func (l LicenseDocument) Text() ([]byte, error) { return json.Marshal(l) }
