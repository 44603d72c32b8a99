package party

import (
	"time"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

// Offer is an offer of either side in a deal.
type Offer struct {
	// By made the offer.
	By hire.Role
	// Price is measured in [Turn].Asset's base units, including the protocol's fee.
	Price uint64
	// Deadline limits the delivery time.
	Deadline time.Time
	// Arbiter decides about a disputed delivery.
	Arbiter hire.Base58
}

// Exchange is a clarification.
type Exchange struct {
	// By sent it.
	By hire.Role
	// Questions and Answers are untrusted if the counterpart sent them.
	Questions, Answers []hire.Text
}

// Text contains the prose that both sides wrote during the deal. It is untrusted: limits never depend on it.
type Text struct {
	// Task and Requirements describe the work, in the words of the seeker.
	Task         hire.Text
	Requirements []hire.Text
	// Exchanges lists all clarifications, oldest first.
	Exchanges []Exchange
}

// Turn describes a decision to make.
type Turn struct {
	// Conversation and Counterpart are ids.
	Conversation, Counterpart string
	// Deal counts the deals of the conversation, from 1.
	Deal int
	// Role is this agent's role.
	Role hire.Role
	// Asset is used by all prices.
	Asset hire.Asset
	// Offers lists the deal's offers, oldest first. It contains at least the proposal.
	Offers []Offer
	// Refused explains why the agent must not accept the standing offer: it exceeds the agent's limits, or
	// the terms cannot be settled on chain. It is nil if the agent may accept.
	Refused error
	// Due is the time when the counterpart stops waiting. A decision must arrive before.
	Due time.Time
	// Invalid explains why the previous move for this state was invalid. It is nil for the first move. The
	// function is called once more only.
	Invalid error
	// Limits is a copy from [Config].
	Limits Limits
	// Text is untrusted.
	Text Text
}

// Standing returns the counterpart's offer if it can be accepted. The second result is false if this agent
// made the latest offer.
func (t Turn) Standing() (Offer, bool) {
	latest := t.Offers[len(t.Offers)-1]
	return latest, latest.By != t.Role
}

// Own returns the agent's latest offer, if any.
func (t Turn) Own() (Offer, bool) {
	for i := len(t.Offers) - 1; i >= 0; i-- {
		if t.Offers[i].By == t.Role {
			return t.Offers[i], true
		}
	}
	return Offer{}, false
}
