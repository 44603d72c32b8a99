package engine

import (
	"fmt"
	"slices"
)

// Party is the author of a negotiation step.
type Party string

// Parties. PartySystem is the gateway, which ends overdue negotiations.
const (
	PartyClient    Party = "client"
	PartyPublisher Party = "publisher"
	PartySystem    Party = "system"
)

// LeaveReason is a party's reason for ending a negotiation. There is no free text: the opposite party's model
// can read the reason.
type LeaveReason string

// The reasons.
const (
	// LeavePrice: the opposite party's price is out of reach.
	LeavePrice LeaveReason = "price"
	// LeaveTerms: the opposite party's terms, apart from the price, are not acceptable.
	LeaveTerms LeaveReason = "terms"
	// LeaveCancelled: the party does not want the license any more.
	LeaveCancelled LeaveReason = "cancelled"
	LeaveOther     LeaveReason = "other"
)

// LeaveReasons returns all reasons.
func LeaveReasons() []LeaveReason {
	return []LeaveReason{LeavePrice, LeaveTerms, LeaveCancelled, LeaveOther}
}

// IsValid reports whether the reason is one of [LeaveReasons].
func (r LeaveReason) IsValid() bool { return slices.Contains(LeaveReasons(), r) }

// Leave answers a party that ends the negotiation before the deadline, with a rejection. An agreement's terms
// are binding while it awaits approval: the client cannot leave it, and the publisher approves or refuses it.
// Leave returns [ErrFinal], [ErrAwaitingApproval], or an error for an unknown reason.
func Leave(s *Strategy, state State, by Party, why LeaveReason) (Decision, error) {
	if !why.IsValid() {
		return Decision{}, fmt.Errorf("reason: %.40q is unknown; use one of %v", string(why), LeaveReasons())
	}
	if err := state.check(); err != nil {
		return Decision{}, err
	}
	if by == PartyPublisher {
		return s.end(Reject, ReasonPublisherLeft+string(why), RulePublisher), nil
	}
	return s.end(Reject, ReasonClientLeft+string(why), RuleClientLeaves), nil
}
