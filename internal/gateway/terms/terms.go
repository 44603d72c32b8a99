// Package terms defines content license terms: validation, JSON, and the license document.
//
// Prices are whole micro units of the publisher's currency for each fetch: 1,800 is 0.0018. No price is a
// floating point number.
//
//	proposed, err := terms.Parse(body)
//	...
//	text := proposed.Canonical()
package terms

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/haggle-protocol/haggle/internal/gateway/strictjson"
)

// Term limits. They keep all fields exact in JSON readers that use 64-bit floating point, and the total price
// of prepaid fetches within 64 bits.
const (
	// MaxPrice is the highest price per fetch, in micro units: a thousand of the currency.
	MaxPrice = 1_000_000_000
	// MaxTTLSeconds is the longest token lifetime, in seconds: 365 days.
	MaxTTLSeconds = 365 * 24 * 60 * 60
	// MaxRPS is the highest burst rate, in requests per second.
	MaxRPS = 1_000_000
	// MaxFetches limits prepaid fetches.
	MaxFetches = 10_000_000_000
	// MaxSize limits JSON documents of terms, in bytes.
	MaxSize = 4096
)

// ErrInvalid is wrapped by errors about invalid terms and licenses.
var ErrInvalid = errors.New("invalid terms")

// Terms are what a client and a publisher bargain about.
type Terms struct {
	// Price is the price per fetch in micro units, from 0 to [MaxPrice].
	Price uint64 `json:"price_per_fetch_micro"`
	// TTLSeconds is how long an access token lives, in seconds, from 0 to [MaxTTLSeconds].
	TTLSeconds uint32 `json:"token_ttl_seconds"`
	// BurstRPS limits requests per second, from 0 to [MaxRPS].
	BurstRPS uint32 `json:"burst_rps"`
	// Purposes lists the permitted uses: at least one, none twice.
	Purposes []Purpose `json:"purposes"`
	// PrepaidFetches counts the fetches that the client pays in advance, from 0 to [MaxFetches].
	PrepaidFetches uint64 `json:"prepaid_fetches"`
}

// Parse reads and validates terms from a JSON object. Only prepaid_fetches can be missing. It fails with
// [strictjson.ErrInvalid] or [ErrInvalid]. The result's purposes are sorted as in [Purposes].
func Parse(data []byte) (Terms, error) {
	var t Terms
	err := strictjson.Decode(data, MaxSize, &t,
		"price_per_fetch_micro", "token_ttl_seconds", "burst_rps", "purposes")
	if err != nil {
		return Terms{}, err
	}
	if err := t.Validate(); err != nil {
		return Terms{}, err
	}
	return t.Normal(), nil
}

// Validate returns an error with [ErrInvalid] that names the field outside the valid range.
func (t Terms) Validate() error {
	for _, field := range []struct {
		name         string
		value, limit uint64
	}{
		{"price_per_fetch_micro", t.Price, MaxPrice},
		{"token_ttl_seconds", uint64(t.TTLSeconds), MaxTTLSeconds},
		{"burst_rps", uint64(t.BurstRPS), MaxRPS},
		{"prepaid_fetches", t.PrepaidFetches, MaxFetches},
	} {
		if field.value > field.limit {
			return fmt.Errorf("%w: %s: %d is above the limit of %d", ErrInvalid, field.name, field.value, field.limit)
		}
	}
	if len(t.Purposes) == 0 {
		return fmt.Errorf("%w: purposes: empty; name at least one of %s", ErrInvalid, purposeList)
	}
	if err := CheckPurposes(t.Purposes); err != nil {
		return fmt.Errorf("%w: purposes: %w", ErrInvalid, err)
	}
	return nil
}

// Total returns the price of the prepaid fetches in micro units. The terms must be valid.
func (t Terms) Total() uint64 { return t.Price * t.PrepaidFetches }

// Normal returns the terms with a new list of purposes, sorted as in [Purposes].
func (t Terms) Normal() Terms {
	t.Purposes = slices.Clone(t.Purposes)
	slices.Sort(t.Purposes)
	return t
}

// Equal reports whether two valid terms are the same, in whatever order the purposes are.
func (t Terms) Equal(other Terms) bool {
	return t.Price == other.Price && t.Matches(other)
}

// Matches reports whether two valid terms differ in the price at most.
func (t Terms) Matches(other Terms) bool {
	return t.TTLSeconds == other.TTLSeconds && t.BurstRPS == other.BurstRPS &&
		t.PrepaidFetches == other.PrepaidFetches && slices.Equal(t.Normal().Purposes, other.Normal().Purposes)
}

// canonical contains the fields of Terms sorted by name, as RFC 8785 requires. json.Marshal keeps the other
// rules for these values: integers below 2^53, and names of purposes.
type canonical struct {
	BurstRPS       uint32    `json:"burst_rps"`
	PrepaidFetches uint64    `json:"prepaid_fetches"`
	Price          uint64    `json:"price_per_fetch_micro"`
	Purposes       []Purpose `json:"purposes"`
	TTLSeconds     uint32    `json:"token_ttl_seconds"`
}

// Canonical returns valid terms as canonical JSON (RFC 8785): equal terms have equal bytes.
func (t Terms) Canonical() []byte {
	text, err := json.Marshal(canonical{
		BurstRPS: t.BurstRPS, PrepaidFetches: t.PrepaidFetches, Price: t.Price, Purposes: t.Normal().Purposes,
		TTLSeconds: t.TTLSeconds,
	})
	if err != nil {
		panic(fmt.Sprintf("terms: canonical JSON of %+v: %v", t, err)) // valid terms have no such value
	}
	return text
}
