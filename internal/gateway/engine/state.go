package engine

import (
	"errors"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Status is the status of a negotiation.
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

// Statuses returns all statuses.
func Statuses() []Status {
	return []Status{Initiated, Negotiating, AwaitingApproval, Accepted, Rejected, TimedOut}
}

// IsFinal reports whether the negotiation is over.
func (s Status) IsFinal() bool { return s == Accepted || s == Rejected || s == TimedOut }

// State is the part of a negotiation on which the rules depend. It is a value: [State.After] returns the next
// one.
type State struct {
	Status Status `json:"status"`
	// Round is the number of proposals that have been answered.
	Round uint32 `json:"current_round"`
	// Counter is the standing counter offer; nil without one.
	Counter *terms.Terms `json:"counter,omitempty"`
	// Agreed are the terms that are accepted or wait for approval; nil without any.
	Agreed *terms.Terms `json:"agreed,omitempty"`
	// StartedAt and LastActivityAt are the times of the first and the last decision.
	StartedAt      time.Time `json:"started_at"`
	LastActivityAt time.Time `json:"last_activity_at"`
	// AwaitingSince is the time of the agreement that waits for approval; zero without one.
	AwaitingSince time.Time `json:"awaiting_since,omitzero"`
}

// Errors of calls that do not fit the state.
var (
	// ErrFinal: the negotiation is over.
	ErrFinal = errors.New("negotiation: already over; start a new one")
	// ErrAwaitingApproval: the agreement waits for the publisher.
	ErrAwaitingApproval = errors.New("negotiation: the agreement waits for the publisher's approval")
	// ErrNoCounter: the publisher has made no counter offer.
	ErrNoCounter = errors.New("negotiation: no counter offer to accept; send a proposal")
)

// Start returns the state of a new negotiation.
func Start(now time.Time) State {
	return State{Status: Initiated, StartedAt: now, LastActivityAt: now}
}

// After returns the state after a decision at a time.
func (s State) After(decision Decision, now time.Time) State {
	if decision.Round > 0 {
		s.Round = decision.Round
	}
	s.LastActivityAt = now
	switch decision.Action {
	case Counter:
		s.Status, s.Counter = Negotiating, decision.Terms
	case Approve:
		s.Status, s.Agreed, s.AwaitingSince = AwaitingApproval, decision.Terms, now
	case Accept:
		s.Status, s.Agreed = Accepted, decision.Terms
	case Reject:
		s.Status, s.Agreed = Rejected, nil
	case Timeout:
		s.Status, s.Agreed = TimedOut, nil
	}
	return s
}

// Deadline returns the time from which the negotiation is over without an agreement; zero if it is final.
// While an agreement waits for approval, the time for approval counts instead of the time for activity.
func Deadline(s *Strategy, state State) time.Time {
	switch {
	case state.Status.IsFinal():
		return time.Time{}
	case state.Status == AwaitingApproval:
		return state.AwaitingSince.Add(time.Duration(s.ApprovalSeconds) * time.Second)
	}
	return state.LastActivityAt.Add(time.Duration(s.TimeoutSeconds) * time.Second)
}

// Expire returns the timeout of a negotiation whose deadline has passed, and false if it has not.
func Expire(s *Strategy, state State, now time.Time) (Decision, bool) {
	if state.Status.IsFinal() || now.Before(Deadline(s, state)) {
		return Decision{}, false
	}
	reason := ReasonInactive
	if state.Status == AwaitingApproval {
		reason = ReasonNotApproved
	}
	return s.end(Timeout, reason), true
}

// check returns an error if the negotiation takes no more proposals or acceptances.
func (s State) check() error {
	switch {
	case s.Status.IsFinal():
		return ErrFinal
	case s.Status == AwaitingApproval:
		return ErrAwaitingApproval
	}
	return nil
}
