package engine

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// ErrStrategy is wrapped by errors about invalid strategies.
var ErrStrategy = errors.New("invalid strategy")

// MaxRounds is the highest max_rounds.
const MaxRounds = 100

// Limits of strategies.
const (
	maxTimeout      = 30 * 86_400
	maxLicense      = 10 * 366 * 86_400
	maxDealBreakers = 64
	maxTiers        = 32
	maxHours        = 24
	maxPrompt       = 16 * 1024
	maxTemperature  = 2 * One
	// maxExact is the highest integer that all JSON readers read exactly.
	maxExact = 1<<53 - 1
)

var currency = regexp.MustCompile(`^[A-Z][A-Z0-9]{2,11}$`)

// Validate returns an error with [ErrStrategy] that names the invalid field. The text can contain the hidden
// minimum: it is for the publisher.
func (s *Strategy) Validate() error {
	for _, check := range []func() error{
		s.checkNames, s.checkPrices, s.checkRanges, s.checkPurposes, s.checkTiers, s.checkLimits, s.checkSchedule,
		s.checkDealBreakers,
	} {
		if err := check(); err != nil {
			return fmt.Errorf("%w: %w", ErrStrategy, err)
		}
	}
	return nil
}

func (s *Strategy) checkNames() error {
	if err := terms.CheckName(s.Name); err != nil {
		return fmt.Errorf("strategy_name: %w", err)
	}
	for field, name := range map[string]string{"llm_provider": s.LLMProvider, "llm_model": s.LLMModel} {
		if name == "" {
			continue
		}
		if err := terms.CheckName(name); err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
	}
	switch {
	case s.PublisherID < 0 || s.PublisherID > maxExact:
		return fmt.Errorf("publisher_id: %d is not from 0 to %d", s.PublisherID, int64(maxExact))
	case !s.Style.IsValid():
		return fmt.Errorf("negotiation_style: unknown style %.40q; use one of %v", string(s.Style), Styles())
	case !currency.MatchString(s.Currency):
		return fmt.Errorf("currency: %.40q is not 3 to 12 capital letters and digits", s.Currency)
	case len(s.SystemPrompt) > maxPrompt || !utf8.ValidString(s.SystemPrompt):
		return fmt.Errorf("system_prompt: not UTF-8, or longer than %d bytes", maxPrompt)
	case strings.ContainsRune(s.SystemPrompt, 0):
		return fmt.Errorf("system_prompt: contains the character U+0000")
	}
	return nil
}

func (s *Strategy) checkPrices() error {
	switch floor := s.Floor(); {
	case s.MaxPrice > terms.MaxPrice:
		return fmt.Errorf("max_price_per_fetch_micro: %d is above the limit of %d", s.MaxPrice, terms.MaxPrice)
	case s.PreferredPrice > s.MaxPrice:
		return fmt.Errorf("preferred_price_per_fetch_micro: %d is above the maximum of %d", s.PreferredPrice,
			s.MaxPrice)
	case s.MinPrice > s.PreferredPrice:
		return fmt.Errorf("min_price_per_fetch_micro: %d is above the preferred price of %d", s.MinPrice,
			s.PreferredPrice)
	case s.PublishedFloor > s.MinPrice:
		return fmt.Errorf("published_floor_micro: %d is above the minimum of %d", s.PublishedFloor, s.MinPrice)
	case floor > s.MinPrice:
		return fmt.Errorf("deal_breakers: reject prices below %d, above the minimum of %d; raise the minimum",
			floor, s.MinPrice)
	}
	return nil
}

func (s *Strategy) checkRanges() error {
	for _, r := range []struct {
		field                       string
		least, preferred, most, top uint32
	}{
		{"token_ttl_seconds", s.MinTTLSeconds, s.PreferredTTLSeconds, s.MaxTTLSeconds, terms.MaxTTLSeconds},
		{"burst_rps", s.MinBurstRPS, s.PreferredBurstRPS, s.MaxBurstRPS, terms.MaxRPS},
	} {
		switch {
		case r.most > r.top:
			return fmt.Errorf("max_%s: %d is above the limit of %d", r.field, r.most, r.top)
		case r.preferred < r.least || r.preferred > r.most:
			return fmt.Errorf("preferred_%s: %d is not between the minimum of %d and the maximum of %d", r.field,
				r.preferred, r.least, r.most)
		}
	}
	return nil
}

func (s *Strategy) checkPurposes() error {
	if len(s.AllowedPurposes) == 0 {
		return errors.New("allowed_purposes: empty; allow at least one purpose")
	}
	if err := terms.CheckPurposes(s.AllowedPurposes); err != nil {
		return fmt.Errorf("allowed_purposes: %w", err)
	}
	if err := terms.CheckPurposes(s.PreferredPurposes); err != nil {
		return fmt.Errorf("preferred_purposes: %w", err)
	}
	for _, purpose := range s.PreferredPurposes {
		if !slices.Contains(s.AllowedPurposes, purpose) {
			return fmt.Errorf("preferred_purposes: %s is not in allowed_purposes", purpose)
		}
	}
	return nil
}

func (s *Strategy) checkTiers() error {
	if len(s.Tiers) > maxTiers {
		return fmt.Errorf("volume_tiers: %d; use at most %d", len(s.Tiers), maxTiers)
	}
	before := Tier{Price: s.PreferredPrice}
	for at, tier := range s.Tiers {
		switch {
		case tier.From <= before.From || tier.From > terms.MaxFetches:
			return fmt.Errorf("volume_tiers[%d]: from_fetches %d is not between %d and %d", at, tier.From,
				before.From+1, uint64(terms.MaxFetches))
		case tier.Price > before.Price:
			return fmt.Errorf("volume_tiers[%d]: the price of %d is above the price of %d for fewer fetches", at,
				tier.Price, before.Price)
		case tier.Price < s.MinPrice:
			return fmt.Errorf("volume_tiers[%d]: the price of %d is below the minimum of %d", at, tier.Price,
				s.MinPrice)
		}
		before = tier
	}
	return nil
}

func (s *Strategy) checkLimits() error {
	for _, limit := range []struct {
		field              string
		value, least, most uint64
	}{
		{"version", uint64(s.Version), 1, 1 << 31},
		{"max_rounds", uint64(s.MaxRounds), 1, MaxRounds},
		{"timeout_seconds", uint64(s.TimeoutSeconds), 1, maxTimeout},
		{"approval_seconds", uint64(s.ApprovalSeconds), 1, maxTimeout},
		{"license_seconds", uint64(s.LicenseSeconds), 1, maxLicense},
	} {
		if limit.value < limit.least || limit.value > limit.most {
			return fmt.Errorf("%s: %d is not from %d to %d", limit.field, limit.value, limit.least, limit.most)
		}
	}
	switch {
	case s.AutoAcceptThreshold > One:
		return fmt.Errorf("auto_accept_threshold: %s is above 1", s.AutoAcceptThreshold)
	case s.LLMTemperature != nil && *s.LLMTemperature > maxTemperature:
		return fmt.Errorf("llm_temperature: %s is above %s", *s.LLMTemperature, maxTemperature)
	case s.ApprovalAbove > MaxApprovalAbove:
		return fmt.Errorf("approval_above_micro: %d is above %d", s.ApprovalAbove, uint64(MaxApprovalAbove))
	}
	return nil
}

// CheckYear returns an error unless a time's year in UTC is in the range 1 to 9999. A time zone can move a
// time out of this range.
func CheckYear(at time.Time) error {
	if year := at.UTC().Year(); year < 1 || year > 9999 {
		return fmt.Errorf("year %d in UTC is not from 1 to 9999", year)
	}
	return nil
}

func (s *Strategy) checkSchedule() error {
	for field, at := range map[string]time.Time{"valid_from": s.ValidFrom, "valid_until": s.ValidUntil} {
		if err := CheckYear(at); err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
	}
	if !s.ValidUntil.IsZero() && !s.ValidUntil.After(s.ValidFrom) {
		return fmt.Errorf("valid_until: %s is not after valid_from", s.ValidUntil.Format(time.RFC3339))
	}
	if len(s.Hours) > maxHours {
		return fmt.Errorf("hours: %d intervals; use at most %d", len(s.Hours), maxHours)
	}
	for at, hours := range s.Hours {
		if err := hours.check(); err != nil {
			return fmt.Errorf("hours[%d]: %w", at, err)
		}
	}
	if _, err := s.location(); err != nil {
		return fmt.Errorf("time_zone: %w", err)
	}
	return nil
}

func (s *Strategy) checkDealBreakers() error {
	if len(s.DealBreakers) > maxDealBreakers {
		return fmt.Errorf("deal_breakers: %d; use at most %d", len(s.DealBreakers), maxDealBreakers)
	}
	for at, breaker := range s.DealBreakers {
		if err := breaker.check(s); err != nil {
			return fmt.Errorf("deal_breakers[%d]: %w", at, err)
		}
	}
	return nil
}
