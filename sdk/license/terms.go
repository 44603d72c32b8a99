package license

import (
	"fmt"
	"slices"
	"time"
)

// The gateway's limits of terms.
const (
	// MaxPriceMicro is the highest price per fetch in micro units.
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
	// PriceMicro is the price per fetch in micro units, 0 to [MaxPriceMicro].
	PriceMicro uint64 `json:"price_per_fetch_micro"`
	// TokenTTLSeconds is the access token lifetime in seconds.
	TokenTTLSeconds uint32 `json:"token_ttl_seconds"`
	// BurstRPS is the maximum burst rate in requests per second.
	BurstRPS uint32 `json:"burst_rps"`
	// Purposes lists the permitted uses.
	Purposes []Purpose `json:"purposes"`
	// PrepaidFetches is the number of fetches paid in advance, 0 to [MaxFetches].
	PrepaidFetches uint64 `json:"prepaid_fetches"`
}

// CostMicro returns the price of the prepaid fetches in micro units. The second result is false unless price
// and fetch count are within their limits.
func (t Terms) CostMicro() (cost uint64, ok bool) {
	if t.PriceMicro > MaxPriceMicro || t.PrepaidFetches > MaxFetches {
		return 0, false
	}
	return t.PriceMicro * t.PrepaidFetches, true
}

// same reports whether terms are equal. Purposes may differ in order.
func (t Terms) same(o Terms) bool {
	return t.PriceMicro == o.PriceMicro && t.TokenTTLSeconds == o.TokenTTLSeconds && t.BurstRPS == o.BurstRPS &&
		t.PrepaidFetches == o.PrepaidFetches &&
		slices.Equal(slices.Sorted(slices.Values(t.Purposes)), slices.Sorted(slices.Values(o.Purposes)))
}

// Range is a wanted term's range. All three values are inclusive.
type Range struct {
	Least uint32 `json:"least"`
	// Preferred is proposed first. It lies between Least and Most.
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

// Status is a negotiation's status.
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
	// ActionPending is an answer that does not exist yet: see [Client.Propose].
	ActionPending Action = "pending"
)

// ReasonCode is a reason of the publisher for programs. Later gateways can have further ones.
type ReasonCode string

// The codes.
const (
	// CodeAccepted: the terms are agreed.
	CodeAccepted ReasonCode = "accepted"
	// CodeApproval: the terms are agreed, and the publisher must approve them.
	CodeApproval ReasonCode = "approval_required"
	// CodeFloor: the price is below the published floor.
	CodeFloor ReasonCode = "price_below_floor"
	// CodeDealBreaker: the publisher does not negotiate about a value. The reason names the field.
	CodeDealBreaker ReasonCode = "deal_breaker"
	// CodePurposes, CodeTTL and CodeRPS: the counter offer has other purposes, another token lifetime, or another burst
	// rate.
	CodePurposes ReasonCode = "purposes_not_allowed"
	CodeTTL      ReasonCode = "token_ttl_out_of_range"
	CodeRPS      ReasonCode = "burst_rps_out_of_range"
	// CodePrice: the counter offer has a higher price.
	CodePrice ReasonCode = "price_below_offer"
	// CodeRounds: the publisher answers no more proposals.
	CodeRounds ReasonCode = "rounds_used_up"
	// CodeInactive and CodeNotApproved: the deadline for activity, or for the approval, has passed.
	CodeInactive    ReasonCode = "no_activity"
	CodeNotApproved ReasonCode = "no_approval"
	// CodeRefused: the publisher refused the agreement.
	CodeRefused ReasonCode = "approval_refused"
	// CodePending: the answer does not exist yet. The negotiation has it later.
	CodePending ReasonCode = "answer_pending"
	// CodeClientLeft and CodePublisherLeft: the party ended the negotiation. The reason has the [LeaveReason].
	CodeClientLeft    ReasonCode = "client_left"
	CodePublisherLeft ReasonCode = "publisher_left"
	// CodeBundle: the offer has the client's terms, and other publishers of the bundle have not agreed yet.
	CodeBundle ReasonCode = "bundle_incomplete"
	// CodeBundleApproval: the offer has the client's terms, and the client must accept it alone, because the publisher
	// must approve it.
	CodeBundleApproval ReasonCode = "bundle_approval_required"
)

// ReasonCodes returns all codes.
func ReasonCodes() []ReasonCode {
	return []ReasonCode{
		CodeAccepted, CodeApproval, CodeFloor, CodeDealBreaker, CodePurposes, CodeTTL, CodeRPS, CodePrice, CodeRounds,
		CodeInactive, CodeNotApproved, CodeRefused, CodePending, CodeClientLeft, CodePublisherLeft, CodeBundle,
		CodeBundleApproval,
	}
}

// Negotiation is a negotiation's state.
type Negotiation struct {
	ID          string `json:"id"`
	PublisherID int64  `json:"publisher_id"`
	// Publisher is the hostname.
	Publisher string `json:"publisher_hostname"`
	// ClientName is the client's verified name, or "" for anonymous clients and over MCP.
	ClientName string `json:"client_name,omitempty"`
	BundleID   string `json:"bundle_id,omitempty"`
	Status     Status `json:"status"`
	// Reason explains the final status, and Codes has its parts for programs.
	Reason string       `json:"reason,omitempty"`
	Codes  []ReasonCode `json:"reason_codes,omitempty"`
	// Round counts the client's proposals and acceptances. [Acceptance.Round] is this number.
	Round int `json:"current_round"`
	// Currency is the currency of all prices.
	Currency string `json:"currency"`
	// OfferBy is the author of CurrentTerms: "client" or "publisher".
	OfferBy      string `json:"current_offer_by"`
	CurrentTerms *Terms `json:"current_terms,omitempty"`
	// AnswerPending reports whether the publisher has not answered the client's newest offer yet.
	AnswerPending bool `json:"answer_pending,omitempty"`
	// FinalTerms holds an accepted negotiation's agreed terms.
	FinalTerms *Terms `json:"final_terms,omitempty"`
	// LicenseID is the number of the license; 0 if none has been generated.
	LicenseID      int64     `json:"policy_id,omitempty"`
	InitiatedAt    time.Time `json:"initiated_at"`
	LastActivityAt time.Time `json:"last_activity_at"`
	// DeadlineAt is when an open negotiation times out.
	DeadlineAt time.Time `json:"deadline_at"`
	// CompletedAt is unset if the negotiation is open.
	CompletedAt time.Time `json:"completed_at,omitzero"`
	// RetryAfter is the time that the gateway names in the header Retry-After while AnswerPending is true. If zero, it
	// names none.
	RetryAfter time.Duration `json:"-"`
}

// Answer is the publisher's answer to a proposal or an acceptance.
type Answer struct {
	Action Action `json:"action"`
	// Terms holds the agreed terms or the counter offer. For other actions it is nil.
	Terms *Terms `json:"terms,omitempty"`
	// Reason is the publisher's reason, such as "Price below minimum threshold", and Codes has its parts for programs.
	Reason      string       `json:"reason"`
	Codes       []ReasonCode `json:"reason_codes,omitempty"`
	Negotiation Negotiation  `json:"negotiation"`
}

// Round is a history entry.
type Round struct {
	Number int `json:"round_number"`
	// Actor is "client", "publisher" or "system".
	Actor     string       `json:"actor"`
	Action    string       `json:"action"`
	Terms     *Terms       `json:"proposed_terms,omitempty"`
	Reason    string       `json:"reasoning,omitempty"`
	Codes     []ReasonCode `json:"reason_codes,omitempty"`
	CreatedAt time.Time    `json:"created_at"`
}

// Details contains a negotiation and the history.
type Details struct {
	Negotiation
	Rounds []Round `json:"rounds"`
}

// Publisher is a site that licenses content.
type Publisher struct {
	// ID is the publisher's number. MCP does not provide it; it is then 0.
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

// PublicStrategy contains public facts about a publisher's strategy.
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
