package hire

import (
	"crypto/sha256"

	"github.com/haggle-protocol/haggle/sdk/internal/strictjson"
)

// Type is the type of a message.
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

// Payload is the content of a message: one of the types of this file.
type Payload interface {
	// Type is the type of messages with the payload.
	Type() Type
	reply() Hash
}

// Reply is a part of every payload.
type Reply struct {
	// InReplyTo is the hash of the latest message of the conversation. Only the first message has none.
	InReplyTo Hash `json:"in_reply_to,omitzero"`
}

func (r Reply) reply() Hash { return r.InReplyTo }

// Range is a range of prices.
type Range struct {
	From Price `json:"from"`
	To   Price `json:"to"`
}

// Inquiry is a seeker's first question: who can do this?
type Inquiry struct {
	Reply
	// Need is what the seeker needs.
	Need Text `json:"need"`
	// Budget is the range of prices that the seeker considers. If zero, the seeker does not say.
	Budget Range `json:"budget_range,omitzero"`
}

// UnitPrice is the price of a unit of work.
type UnitPrice struct {
	// Unit names the unit, such as "page".
	Unit  string `json:"unit"`
	Price Price  `json:"price"`
}

// Capability is a worker's response to an inquiry.
type Capability struct {
	Reply
	// Skills are the names of what the worker does.
	Skills []string `json:"skills"`
	// Prices are the worker's usual prices. They bind nobody.
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
	// Arbiter is the Solana address that decides about a disputed delivery. Settlement on chain requires one.
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
	// AcceptedRequirements are the requirements that the worker meets.
	AcceptedRequirements []Text `json:"accepted_requirements,omitzero"`
	// Price is the demanded price.
	Price Price `json:"price"`
	// EstimatedDelivery is the time of the delivery.
	EstimatedDelivery Time `json:"estimated_delivery"`
	// Arbiter is as in a proposal. If empty, the latest proposal's is meant.
	Arbiter Base58 `json:"arbiter,omitzero"`
}

// Terms are what both sides accept.
type Terms struct {
	Price    Price `json:"price"`
	Deadline Time  `json:"deadline"`
	// Arbiter is empty if the terms name none.
	Arbiter Base58 `json:"arbiter,omitzero"`
}

// Hash returns the SHA-256 of the terms in canonical form (RFC 8785), as an agreement on chain names them.
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
	// Negotiation is the address of the Haggle negotiation that holds the escrow.
	Negotiation Base58 `json:"negotiation"`
	// Mint is the mint of the payment, and Units the price in its base units.
	Mint  Base58 `json:"mint"`
	Units Units  `json:"units"`
}

// Contract is the finalized agreement, signed by a settlement key that both sides have pinned.
type Contract struct {
	Reply
	Terms Terms `json:"terms"`
	// SeekerAccept and WorkerAccept are the hashes of the signed accept messages.
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

// NewPayload returns an empty payload; nil for an unknown type.
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
