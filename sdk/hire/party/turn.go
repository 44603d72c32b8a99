package party

import (
	"time"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

// Offer is an offer of either side in a deal.
type Offer struct {
	// By is the side that has made it.
	By hire.Role
	// Price is in base units of [Turn].Asset, the protocol's fee included.
	Price uint64
	// Deadline is the latest delivery.
	Deadline time.Time
	// Arbiter decides about a disputed delivery.
	Arbiter hire.Base58
}

// Exchange is a clarification.
type Exchange struct {
	// By is the side that has sent it.
	By hire.Role
	// Questions and Answers are untrusted if By is the other side.
	Questions, Answers []hire.Text
}

// Text is what the sides have written in a deal. It is untrusted, and no limit depends on it.
type Text struct {
	// Task and Requirements describe the work, in the words of the seeker.
	Task         hire.Text
	Requirements []hire.Text
	// Exchanges are the clarifications, the oldest first.
	Exchanges []Exchange
}

// Turn is the state that a decision is about.
type Turn struct {
	// Conversation is the conversation's id, and Counterpart the other side's id.
	Conversation, Counterpart string
	// Deal counts the deals of the conversation, from 1.
	Deal int
	// Role is the agent's own role.
	Role hire.Role
	// Asset is the token of all prices of the deal.
	Asset hire.Asset
	// Offers are the offers of the deal, the oldest first. There is at least one: the proposal.
	Offers []Offer
	// Refused is the reason why the agent must not accept the standing offer: its limits, or terms that cannot be
	// settled on chain. It is nil if the agent may accept.
	Refused error
	// Due is the time until which the other side waits. A decision must arrive before.
	Due time.Time
	// Invalid is the reason why the move before, on the same state, was invalid; nil if there was none. The
	// function is called once more only.
	Invalid error
	// Limits are the agent's limits.
	Limits Limits
	// Text is the untrusted part.
	Text Text
}

// Standing returns the other side's offer that the agent can accept; false if the latest offer is the agent's own.
func (t Turn) Standing() (Offer, bool) {
	latest := t.Offers[len(t.Offers)-1]
	return latest, latest.By != t.Role
}

// Own returns the agent's latest offer; false if it has made none.
func (t Turn) Own() (Offer, bool) {
	for i := len(t.Offers) - 1; i >= 0; i-- {
		if t.Offers[i].By == t.Role {
			return t.Offers[i], true
		}
	}
	return Offer{}, false
}
