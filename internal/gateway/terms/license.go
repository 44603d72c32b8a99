package terms

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/strictjson"
)

// LicenseVersion is the version of licence documents.
const LicenseVersion = "1.0"

// Limits of licence documents.
const (
	// MaxName is the length of the longest publisher or agent name, in characters.
	MaxName = 253
	// MaxLicenseSize is the size of the largest licence document, in bytes.
	MaxLicenseSize = 16 * 1024
	// maxRules is the highest number of rules in a licence.
	maxRules = 16
)

// License is the licence document that a publisher's server enforces: the policy_json of a policy.
type License struct {
	// Version is [LicenseVersion].
	Version string `json:"version"`
	// Publisher is the publisher's host name.
	Publisher string `json:"publisher"`
	// Rules has a rule for each agent, at least one.
	Rules []Rule `json:"rules"`
}

// Rule is the permission that a licence gives to an agent.
type Rule struct {
	// Agent is the verified name of the client.
	Agent string `json:"agent"`
	Allow bool   `json:"allow"`
	// PricePerFetch is in the currency of the publisher, exact.
	PricePerFetch Decimal `json:"price_per_fetch"`
	// TokenTTLSeconds is the lifetime of access tokens in seconds.
	TokenTTLSeconds uint32 `json:"token_ttl_seconds"`
	// MaxRPS is the highest rate of requests per second.
	MaxRPS  uint32    `json:"max_rps"`
	Purpose []Purpose `json:"purpose"`
	// PrepaidFetches is the number of fetches that are paid in advance.
	PrepaidFetches uint64 `json:"prepaid_fetches"`
	// ValidUntil is the end of the licence: a UTC time in whole seconds.
	ValidUntil time.Time `json:"valid_until"`
}

// NewLicense returns the licence of agreed terms. The end of the licence is rounded down to a whole second.
// It returns an error with [ErrInvalid] for invalid terms or names, or without an end.
func NewLicense(publisher, agent string, agreed Terms, validUntil time.Time) (License, error) {
	normal := agreed.Normal()
	license := License{Version: LicenseVersion, Publisher: publisher, Rules: []Rule{{
		Agent: agent, Allow: true, PricePerFetch: Decimal(agreed.Price), TokenTTLSeconds: agreed.TTLSeconds,
		MaxRPS: agreed.BurstRPS, Purpose: normal.Purposes, PrepaidFetches: agreed.PrepaidFetches,
		ValidUntil: validUntil.UTC().Truncate(time.Second),
	}}}
	if err := license.Validate(); err != nil {
		return License{}, err
	}
	return license, nil
}

// ParseLicense reads and validates a licence document.
func ParseLicense(data []byte) (License, error) {
	var license License
	err := strictjson.Decode(data, MaxLicenseSize, &license, "version", "publisher", "rules")
	if err != nil {
		return License{}, err
	}
	if err := license.Validate(); err != nil {
		return License{}, err
	}
	for at := range license.Rules {
		rule := &license.Rules[at]
		rule.Purpose, rule.ValidUntil = rule.Terms().Normal().Purposes, rule.ValidUntil.UTC()
	}
	return license, nil
}

// Validate returns an error with [ErrInvalid] that names the invalid field.
func (l License) Validate() error {
	switch {
	case l.Version != LicenseVersion:
		return fmt.Errorf("%w: version: %.40q is unknown; use %q", ErrInvalid, l.Version, LicenseVersion)
	case len(l.Rules) == 0 || len(l.Rules) > maxRules:
		return fmt.Errorf("%w: rules: %d; a licence has 1 to %d", ErrInvalid, len(l.Rules), maxRules)
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

// Text returns the document as JSON, with the keys in the order of the fields.
func (l License) Text() ([]byte, error) { return json.Marshal(l) }
