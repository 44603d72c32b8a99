package party

import (
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Contract is an agreement that is settled on chain.
type Contract struct {
	// Conversation and Counterpart are ids. Deal numbers the conversation's deals from 1.
	Conversation, Counterpart string
	Deal                      int
	// Terms holds the accepted terms.
	Terms hire.Terms
	// Price is measured in Asset's base units, including the protocol's fee.
	Asset hire.Asset
	Price uint64
	// Deadline limits the delivery time.
	Deadline time.Time
	// Negotiation addresses the negotiation holding the escrow.
	Negotiation solana.PublicKey
	// Text is untrusted.
	Text Text
}

// Outcome describes how a deal ended.
type Outcome string

// The outcomes.
const (
	// Settled: the price is paid, or divided by the arbiter or by silence: see [Result].Paid.
	Settled Outcome = "settled"
	// Agreed: both sides accepted, but no [Chain] settles the agreement.
	Agreed Outcome = "agreed"
	// Declined: one side rejected.
	Declined Outcome = "declined"
	// Abandoned: one side did not answer in time.
	Abandoned Outcome = "abandoned"
	// Unsettled: both sides accepted, but the negotiation on chain ended unpaid, or could not be created. The
	// escrow is refunded.
	Unsettled Outcome = "unsettled"
)

// Result describes an ended deal.
type Result struct {
	Outcome Outcome
	// Contract contains the terms. If no agreement was reached, only Conversation, Counterpart and Deal are
	// set.
	Contract
	// Code explains a rejection by the side By.
	Code string
	By   hire.Role
	// Status belongs to the negotiation. Paid is the paid part of the price, in Asset's base units, including
	// the fee.
	Status protocol.NegotiationStatus
	Paid   uint64
	// Delivery was reviewed by the seeker. It is nil if none was.
	Delivery *Delivery
	// Err explains an unsettled agreement, or why this agent did not propose or accept. It can be nil.
	Err error
}
