package license

import (
	"fmt"
	"slices"
	"time"
)

// The gateway's limits of terms.
const (
	// MaxPriceMicro is the highest price of a fetch in micro units.
	MaxPriceMicro = 1_000_000_000
	// MaxFetches is the highest number of prepaid fetches.
	MaxFetches = 10_000_000_000
)

// Purpose is a use of content.
type Purpose string

// The purposes.
const (
	Inference     Purpose = "inference"
	Training      Purpose = "training"
	FineTuning    Purpose = "fine_tuning"
	Retrieval     Purpose = "retrieval"
	Search        Purpose = "search"
	Summarization Purpose = "summarization"
	Research      Purpose = "research"
)

// Purposes returns all purposes in the gateway's order.
func Purposes() []Purpose {
	return []Purpose{Inference, Training, FineTuning, Retrieval, Search, Summarization, Research}
}

// Terms are what a client and a publisher bargain about.
type Terms struct {
	// PriceMicro is the price of a fetch in micro units, from 0 to [MaxPriceMicro].
	PriceMicro uint64 `json:"price_per_fetch_micro"`
	// TokenTTLSeconds is the lifetime of an access token in seconds.
	TokenTTLSeconds uint32 `json:"token_ttl_seconds"`
	// BurstRPS is the highest rate of requests per second.
	BurstRPS uint32 `json:"burst_rps"`
	// Purposes are the permitted uses.
	Purposes []Purpose `json:"purposes"`
	// PrepaidFetches is the number of fetches that are paid in advance, from 0 to [MaxFetches].
	PrepaidFetches uint64 `json:"prepaid_fetches"`
}

// CostMicro returns the price of the prepaid fetches in micro units. It returns false if the price or the
// number of fetches is above its limit.
func (t Terms) CostMicro() (cost uint64, ok bool) {
	if t.PriceMicro > MaxPriceMicro || t.PrepaidFetches > MaxFetches {
		return 0, false
	}
	return t.PriceMicro * t.PrepaidFetches, true
}

// same reports whether terms are equal. The order of the purposes does not count.
func (t Terms) same(o Terms) bool {
	return t.PriceMicro == o.PriceMicro && t.TokenTTLSeconds == o.TokenTTLSeconds && t.BurstRPS == o.BurstRPS &&
		t.PrepaidFetches == o.PrepaidFetches &&
		slices.Equal(slices.Sorted(slices.Values(t.Purposes)), slices.Sorted(slices.Values(o.Purposes)))
}

// Range is the range of a wanted term. All three values are inclusive.
type Range struct {
	Least uint32 `json:"least"`
	// Preferred is proposed first. It lies between the other two.
	Preferred uint32 `json:"preferred"`
	Most      uint32 `json:"most"`
}

func (r Range) check(name string) error {
	if r.Least > r.Preferred || r.Preferred > r.Most {
		return fmt.Errorf("%w: %s: %d, %d, %d are not ascending; set Least <= Preferred <= Most",
			ErrRequest, name, r.Least, r.Preferred, r.Most)
	}
	return nil
}

func (r Range) has(value uint32) bool { return value >= r.Least && value <= r.Most }

// Status is the status of a negotiation.
type Status string

// The statuses. The last three are final.
const (
	Initiated        Status = "initiated"
	Negotiating      Status = "negotiating"
	AwaitingApproval Status = "awaiting_approval"
	Accepted         Status = "accepted"
	Rejected         Status = "rejected"
	TimedOut         Status = "timeout"
)

// Action is the publisher's answer.
type Action string

// The actions.
const (
	ActionAccept  Action = "accept"
	ActionCounter Action = "counter"
	ActionReject  Action = "reject"
	// ActionApprove is an agreement that waits for the publisher's approval.
	ActionApprove Action = "approve"
	ActionTimeout Action = "timeout"
)

// Negotiation is the state of a negotiation.
type Negotiation struct {
	ID          string `json:"id"`
	PublisherID int64  `json:"publisher_id"`
	// Publisher is the hostname.
	Publisher string `json:"publisher_hostname"`
	// ClientName is the verified name of the client; empty for an anonymous one, and over MCP.
	ClientName string `json:"client_name,omitempty"`
	BundleID   string `json:"bundle_id,omitempty"`
	Status     Status `json:"status"`
	// Reason is the reason of a final status.
	Reason string `json:"reason,omitempty"`
	// Round counts the client's proposals and acceptances. [Acceptance.Round] is this number.
	Round int `json:"current_round"`
	// Currency is the currency of all prices.
	Currency string `json:"currency"`
	// OfferBy is the author of CurrentTerms: "client" or "publisher".
	OfferBy      string `json:"current_offer_by"`
	CurrentTerms *Terms `json:"current_terms,omitempty"`
	// FinalTerms are the agreed terms of an accepted negotiation.
	FinalTerms *Terms `json:"final_terms,omitempty"`
	// LicenseID is the number of the licence; 0 if none has been generated.
	LicenseID      int64     `json:"policy_id,omitempty"`
	InitiatedAt    time.Time `json:"initiated_at"`
	LastActivityAt time.Time `json:"last_activity_at"`
	// DeadlineAt is the time at which an open negotiation ends as timeout.
	DeadlineAt time.Time `json:"deadline_at"`
	// CompletedAt is zero for an open negotiation.
	CompletedAt time.Time `json:"completed_at,omitzero"`
}

// Answer is the publisher's answer to a proposal or an acceptance.
type Answer struct {
	Action Action `json:"action"`
	// Terms are the agreed terms or the counter offer; nil for other actions.
	Terms *Terms `json:"terms,omitempty"`
	// Reason is the publisher's reason, such as "Price below minimum threshold".
	Reason      string      `json:"reason"`
	Negotiation Negotiation `json:"negotiation"`
}

// Round is an entry of the history of a negotiation.
type Round struct {
	Number int `json:"round_number"`
	// Actor is "client", "publisher" or "system".
	Actor     string    `json:"actor"`
	Action    string    `json:"action"`
	Terms     *Terms    `json:"proposed_terms,omitempty"`
	Reason    string    `json:"reasoning,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

// Details are a negotiation and its history.
type Details struct {
	Negotiation
	Rounds []Round `json:"rounds"`
}

// Publisher is a site that licenses its content.
type Publisher struct {
	// ID is the number of the publisher; 0 over MCP, which does not have it.
	ID       int64  `json:"id,omitempty"`
	Hostname string `json:"hostname"`
	Currency string `json:"currency"`
	// FloorMicro is the lowest price that the publisher accepts, in micro units; 0 for none.
	FloorMicro uint64 `json:"published_floor_micro"`
}

// Tier is a price for many prepaid fetches.
type Tier struct {
	FromFetches uint64 `json:"from_fetches"`
	PriceMicro  uint64 `json:"price_per_fetch_micro"`
}

// PublicStrategy has the public facts of a publisher's strategy.
type PublicStrategy struct {
	// Style is aggressive, balanced, flexible or cooperative.
	Style    string    `json:"negotiation_style"`
	Currency string    `json:"currency"`
	Purposes []Purpose `json:"allowed_purposes"`
	// FloorMicro is the published floor in micro units: a lower price is rejected.
	FloorMicro uint64 `json:"published_floor_micro"`
	Tiers      []Tier `json:"volume_tiers"`
}

func knownPurpose(p Purpose) bool { return slices.Contains(Purposes(), p) }
