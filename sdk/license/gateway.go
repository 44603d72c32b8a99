package license

import "context"

// Proposal opens a negotiation with a publisher.
type Proposal struct {
	// Publisher is the hostname.
	Publisher string `json:"publisher_hostname"`
	Terms     Terms  `json:"proposed_terms"`
	// IdempotencyKey is limited to 255 bytes: a repeated request with the same key receives the first answer.
	// If empty, the [Client] sets a random key.
	IdempotencyKey string `json:"-"`
}

// CounterOffer is a further proposal in an open negotiation.
type CounterOffer struct {
	Negotiation    string `json:"-"`
	Terms          Terms  `json:"proposed_terms"`
	IdempotencyKey string `json:"-"`
}

// Acceptance accepts the publisher's newest offer.
type Acceptance struct {
	Negotiation string `json:"-"`
	// Round is the [Negotiation.Round] of the offer. Another offer is not accepted.
	Round          int    `json:"current_round"`
	IdempotencyKey string `json:"-"`
}

// LeaveReason is the client's reason for ending a negotiation. There is no free text: the publisher's model
// can read the reason.
type LeaveReason string

// The reasons.
const (
	// LeavePrice: the publisher's price is out of reach.
	LeavePrice LeaveReason = "price"
	// LeaveTerms: the publisher's terms, apart from the price, are not acceptable.
	LeaveTerms LeaveReason = "terms"
	// LeaveCancelled: the client no longer wants the license.
	LeaveCancelled LeaveReason = "cancelled"
	LeaveOther     LeaveReason = "other"
)

// Departure ends an open negotiation with no agreement.
type Departure struct {
	Negotiation    string      `json:"-"`
	Reason         LeaveReason `json:"reason"`
	IdempotencyKey string      `json:"-"`
}

// Page is part of the list.
type Page[T any] struct {
	Items []T `json:"items"`
	// NextCursor selects the following page. The last page leaves it empty.
	NextCursor string `json:"next_cursor"`
}

// Gateway is a protocol for accessing the gateway. Each method sends one request. Gateway errors are
// [*Problem] values.
type Gateway interface {
	Propose(ctx context.Context, p Proposal) (Answer, error)
	Counter(ctx context.Context, o CounterOffer) (Answer, error)
	Accept(ctx context.Context, a Acceptance) (Answer, error)
	Leave(ctx context.Context, d Departure) (Answer, error)
	// Status returns a negotiation of the client.
	Status(ctx context.Context, negotiation string) (Details, error)
	// Publishers returns the page at a cursor, or the first page for "".
	Publishers(ctx context.Context, cursor string) (Page[Publisher], error)
	// Strategy returns the public facts of the strategy of the publisher with a hostname.
	Strategy(ctx context.Context, hostname string) (PublicStrategy, error)
	// License returns an accepted negotiation's license. The gateway generates it if there is none.
	License(ctx context.Context, negotiation string) (License, error)
	// Licenses returns the page of the client's licenses at a cursor, or the first page for "".
	Licenses(ctx context.Context, cursor string) (Page[License], error)
}
