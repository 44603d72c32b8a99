package license

import "context"

// Proposal opens a negotiation with a publisher.
type Proposal struct {
	// Publisher is the hostname.
	Publisher string `json:"publisher_hostname"`
	Terms     Terms  `json:"proposed_terms"`
	// IdempotencyKey has at most 255 bytes: a repeated request with it gets the first answer. If empty, the
	// [Client] sets a random one.
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

// LeaveReason is the reason with which a client ends a negotiation. There is no free text: the publisher's
// model can read the reason.
type LeaveReason string

// The reasons.
const (
	// LeavePrice: the publisher's price is out of reach.
	LeavePrice LeaveReason = "price"
	// LeaveTerms: the publisher's terms, apart from the price, are not acceptable.
	LeaveTerms LeaveReason = "terms"
	// LeaveCancelled: the client does not want the licence any more.
	LeaveCancelled LeaveReason = "cancelled"
	LeaveOther     LeaveReason = "other"
)

// Departure ends an open negotiation without an agreement.
type Departure struct {
	Negotiation    string      `json:"-"`
	Reason         LeaveReason `json:"reason"`
	IdempotencyKey string      `json:"-"`
}

// Page is a part of a list.
type Page[T any] struct {
	Items []T `json:"items"`
	// NextCursor is the cursor of the next page; empty on the last one.
	NextCursor string `json:"next_cursor"`
}

// Gateway is a protocol of the gateway. Each method sends one request. Errors of the gateway are [*Problem]
// values.
type Gateway interface {
	Propose(ctx context.Context, p Proposal) (Answer, error)
	Counter(ctx context.Context, o CounterOffer) (Answer, error)
	Accept(ctx context.Context, a Acceptance) (Answer, error)
	Leave(ctx context.Context, d Departure) (Answer, error)
	// Status returns a negotiation of the client.
	Status(ctx context.Context, negotiation string) (Details, error)
	// Publishers returns the page at a cursor; the first one for "".
	Publishers(ctx context.Context, cursor string) (Page[Publisher], error)
	// Strategy returns the public facts of the strategy of the publisher with a hostname.
	Strategy(ctx context.Context, hostname string) (PublicStrategy, error)
	// License returns the licence of an accepted negotiation. The gateway generates it if there is none.
	License(ctx context.Context, negotiation string) (License, error)
	// Licenses returns the page of the client's licences at a cursor; the first one for "".
	Licenses(ctx context.Context, cursor string) (Page[License], error)
}
