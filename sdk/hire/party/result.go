package party

import (
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Contract is an agreement that is settled on chain.
type Contract struct {
	// Conversation is the conversation's id, Counterpart the other side's id, and Deal the number of the deal.
	Conversation, Counterpart string
	Deal                      int
	// Terms are the accepted terms.
	Terms hire.Terms
	// Asset is the token, and Price the price in its base units, the protocol's fee included.
	Asset hire.Asset
	Price uint64
	// Deadline is the latest delivery.
	Deadline time.Time
	// Negotiation is the address of the negotiation that holds the escrow.
	Negotiation solana.PublicKey
	// Text is the untrusted part.
	Text Text
}

// Outcome is the end of a deal.
type Outcome string

// The outcomes.
const (
	// Settled: the price is paid, or divided by the arbiter or by silence: see [Result].Paid.
	Settled Outcome = "settled"
	// Agreed: both sides have accepted, and no [Chain] settles the agreement.
	Agreed Outcome = "agreed"
	// Declined: a side has rejected.
	Declined Outcome = "declined"
	// Abandoned: a side has not answered in time.
	Abandoned Outcome = "abandoned"
	// Unsettled: both sides have accepted, and the negotiation on chain has ended without a payment, or could not be
	// created. The escrow is refunded.
	Unsettled Outcome = "unsettled"
)

// Result is the end of a deal.
type Result struct {
	Outcome Outcome
	// Contract has the terms; without an agreement only Conversation, Counterpart and Deal.
	Contract
	// Code is the reason of a rejection, and By the side that has rejected.
	Code string
	By   hire.Role
	// Status is the negotiation's, and Paid the paid part of the price in base units, the fee included.
	Status protocol.NegotiationStatus
	Paid   uint64
	// Delivery is the result that a seeker has reviewed; nil if it has not.
	Delivery *Delivery
	// Err is the reason of an unsettled agreement, or of a deal that the agent itself has not proposed or accepted. It
	// can be nil.
	Err error
}
