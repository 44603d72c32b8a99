package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Status is a negotiation status.
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

// State is the negotiation state that the rules depend on. The zero value is a new client's first
// negotiation. The caller keeps it: see [State.Next].
type State struct {
	Status Status
	// Round counts the answered proposals.
	Round uint32
	// Counter is the standing counter offer; nil if none.
	Counter *terms.Terms
	// Proposals holds the client's earlier proposals to the publisher, oldest first, in all their
	// negotiations that began less than [Memory] before the current negotiation, or later. The rules need the
	// first [MaxRounds].
	Proposals []terms.Terms
}

// Memory is how long proposals count in later negotiations between the same client and publisher.
const Memory = 24 * time.Hour

// Next returns the state after the decision of [Respond] on a proposal.
func (s State) Next(proposal terms.Terms, d Decision) State {
	s.Status = d.Status()
	if d.Round > 0 {
		s.Round = d.Round
	}
	if d.Action == Counter {
		s.Counter = d.Terms
	}
	s.Proposals = append(slices.Clip(s.Proposals), proposal)
	return s
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

var statusAfter = map[Action]Status{
	Counter: Negotiating, Approve: AwaitingApproval, Accept: Accepted, Reject: Rejected, Timeout: TimedOut,
}

// Status returns the status of the negotiation after the decision.
func (d Decision) Status() Status { return statusAfter[d.Action] }

// longest is the longest negotiation time from start to end, in multiples of TimeoutSeconds. It limits how
// long a client that continues to send proposals holds a place.
const longest = 3

// Deadline returns when a negotiation left open by an action is over without an agreement. While an agreement
// waits for approval, the time for approval counts instead of the time for activity.
func (s *Strategy) Deadline(action Action, began, now time.Time) time.Time {
	if action == Approve {
		return now.Add(time.Duration(s.ApprovalSeconds) * time.Second)
	}
	pause := time.Duration(s.TimeoutSeconds) * time.Second
	// A negotiation that an older version let go on for longer is not over in the past.
	if end := began.Add(longest * pause); end.After(now) && end.Before(now.Add(pause)) {
		return end
	}
	return now.Add(pause)
}

// check returns an error if the negotiation accepts no further proposals or acceptances.
func (s State) check() error {
	switch {
	case s.Status.IsFinal():
		return ErrFinal
	case s.Status == AwaitingApproval:
		return ErrAwaitingApproval
	}
	return nil
}
