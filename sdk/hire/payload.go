package hire

import (
	"crypto/sha256"

	"github.com/haggle-protocol/haggle/sdk/internal/strictjson"
)

// Type names a message type.
type Type string

// The types.
const (
	TypeInquiry       Type = "inquiry"
	TypeCapability    Type = "capability"
	TypeProposal      Type = "proposal"
	TypeClarification Type = "clarification"
	TypeCounter       Type = "counter"
	TypeAccept        Type = "accept"
	TypeReject        Type = "reject"
	TypeContract      Type = "contract"
)

// Types returns all types.
func Types() []Type {
	return []Type{TypeInquiry, TypeCapability, TypeProposal, TypeClarification, TypeCounter, TypeAccept, TypeReject,
		TypeContract}
}

// Payload holds message content: one of this file's types.
type Payload interface {
	// Type is the message type.
	Type() Type
	reply() Hash
}

// Reply is a part of every payload.
type Reply struct {
	// InReplyTo contains the hash of the conversation's latest message. Only a conversation's first message
	// omits it.
	InReplyTo Hash `json:"in_reply_to,omitzero"`
}

func (r Reply) reply() Hash { return r.InReplyTo }

// Range is a price range.
type Range struct {
	From Price `json:"from"`
	To   Price `json:"to"`
}

// Inquiry is a seeker's first question: who can do this?
type Inquiry struct {
	Reply
	// Need is what the seeker needs.
	Need Text `json:"need"`
	// Budget is the seeker's price range, if stated.
	Budget Range `json:"budget_range,omitzero"`
}

// UnitPrice is a price per unit of work.
type UnitPrice struct {
	// Unit names the unit, such as "page".
	Unit  string `json:"unit"`
	Price Price  `json:"price"`
}

// Capability is a worker's response to an inquiry.
type Capability struct {
	Reply
	// Skills names the worker's skills.
	Skills []string `json:"skills"`
	// Prices lists the worker's usual, non-binding prices.
	Prices []UnitPrice `json:"price_per_unit,omitzero"`
	// Available is the earliest start.
	Available Time `json:"availability,omitzero"`
}

// Proposal is a seeker's offer.
type Proposal struct {
	Reply
	// Task and Requirements describe the work.
	Task         Text   `json:"task"`
	Requirements []Text `json:"requirements,omitzero"`
	// Budget is the offered price.
	Budget Price `json:"budget"`
	// Deadline is the latest delivery.
	Deadline Time `json:"deadline"`
	// Arbiter names the Solana account that decides about disputed deliveries. Settlement on chain requires an
	// arbiter.
	Arbiter Base58 `json:"arbiter,omitzero"`
}

// Clarification asks or answers.
type Clarification struct {
	Reply
	Questions []Text `json:"questions,omitzero"`
	Answers   []Text `json:"answers,omitzero"`
}

// Counter is a worker's offer.
type Counter struct {
	Reply
	// AcceptedRequirements lists the requirements met by the worker.
	AcceptedRequirements []Text `json:"accepted_requirements,omitzero"`
	// Price is the demanded price.
	Price Price `json:"price"`
	// EstimatedDelivery is the estimated delivery time.
	EstimatedDelivery Time `json:"estimated_delivery"`
	// Arbiter is as in a proposal. If empty, the latest proposal's arbiter is used.
	Arbiter Base58 `json:"arbiter,omitzero"`
}

// Terms are what both sides accept.
type Terms struct {
	Price    Price `json:"price"`
	Deadline Time  `json:"deadline"`
	// Arbiter is "" if the terms name no arbiter.
	Arbiter Base58 `json:"arbiter,omitzero"`
}

// Hash returns the canonical form's SHA-256 (RFC 8785), as named by on-chain agreements.
func (t Terms) Hash() [sha256.Size]byte {
	text, err := strictjson.Canonical(t)
	if err != nil {
		panic(err) // three strings have a canonical form
	}
	return sha256.Sum256(text)
}

// Accept agrees to the latest terms.
type Accept struct {
	Reply
	Terms Terms `json:"accepted_terms"`
}

// Reject ends a deal.
type Reject struct {
	Reply
	// Code is a machine-readable reason, such as "price".
	Code string `json:"reason_code"`
	// Note is an explanation.
	Note Text `json:"note,omitzero"`
}

// Settlement is where a contract is settled.
type Settlement struct {
	// Cluster is the Solana cluster's genesis hash, and Program the program's address.
	Cluster Base58 `json:"cluster"`
	Program Base58 `json:"program"`
	// Negotiation identifies the Haggle negotiation account that holds the escrow.
	Negotiation Base58 `json:"negotiation"`
	// Mint is the payment mint, and Units the price in the mint's base units.
	Mint  Base58 `json:"mint"`
	Units Units  `json:"units"`
}

// Contract is a finalized agreement, signed by a settlement key pinned by both sides.
type Contract struct {
	Reply
	Terms Terms `json:"terms"`
	// SeekerAccept and WorkerAccept hash the signed accept messages.
	SeekerAccept Hash       `json:"seeker_accept"`
	WorkerAccept Hash       `json:"worker_accept"`
	Settlement   Settlement `json:"settlement"`
}

// Type returns TypeInquiry.
func (*Inquiry) Type() Type { return TypeInquiry }

// Type returns TypeCapability.
func (*Capability) Type() Type { return TypeCapability }

// Type returns TypeProposal.
func (*Proposal) Type() Type { return TypeProposal }

// Type returns TypeClarification.
func (*Clarification) Type() Type { return TypeClarification }

// Type returns TypeCounter.
func (*Counter) Type() Type { return TypeCounter }

// Type returns TypeAccept.
func (*Accept) Type() Type { return TypeAccept }

// Type returns TypeReject.
func (*Reject) Type() Type { return TypeReject }

// Type returns TypeContract.
func (*Contract) Type() Type { return TypeContract }

// NewPayload returns a new, empty payload; nil for an unknown type.
func NewPayload(of Type) Payload {
	switch of {
	case TypeInquiry:
		return new(Inquiry)
	case TypeCapability:
		return new(Capability)
	case TypeProposal:
		return new(Proposal)
	case TypeClarification:
		return new(Clarification)
	case TypeCounter:
		return new(Counter)
	case TypeAccept:
		return new(Accept)
	case TypeReject:
		return new(Reject)
	case TypeContract:
		return new(Contract)
	}
	return nil
}
