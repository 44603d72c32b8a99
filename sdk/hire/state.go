package hire

import (
	"cmp"
	"slices"
	"time"
)

// Phase is the phase of a conversation.
type Phase string

// The phases. A conversation returns to PhaseIdle by a timeout. In PhaseContracted and PhaseDeclined the next
// deal's proposal leads to PhaseNegotiating.
const (
	PhaseIdle        Phase = "IDLE"
	PhaseNegotiating Phase = "NEGOTIATING"
	PhaseContracted  Phase = "CONTRACTED"
	PhaseDeclined    Phase = "DECLINED"
)

// Role is the role of a message's sender.
type Role string

// The roles. The system is the settlement key that both sides have pinned.
const (
	RoleSeeker Role = "seeker"
	RoleWorker Role = "worker"
	RoleSystem Role = "system"
)

// Rules are the rules that a receiver applies. The zero value has the protocol's defaults.
type Rules struct {
	Timeouts Timeouts
	// System is the id of the settlement key. If empty, contracts are refused.
	System string
	// MaxSkew is the largest difference between a timestamp and the receiver's clock. If zero, 30 seconds are
	// used.
	MaxSkew time.Duration
	// Lenient accepts messages without in_reply_to. The caller should log them.
	Lenient bool
}

// CapabilityDue returns the time after which an inquiry is without an answer: the protocol sets none, so it is the time
// for the first response to a proposal.
func (r Rules) CapabilityDue(inquiry time.Time) time.Time {
	return inquiry.Add(r.Timeouts.WithDefaults().FirstResponse)
}

// maxSkew is the default of [Rules].MaxSkew.
const maxSkew = 30 * time.Second

// State is the state of a conversation: a function of its messages and their times. The zero value is a
// conversation without messages.
type State struct {
	// Conversation is the conversation's id. Seeker and Worker are the ids of the parties.
	Conversation string `json:"conversation_id,omitzero"`
	Seeker       string `json:"seeker,omitzero"`
	Worker       string `json:"worker,omitzero"`
	Phase        Phase  `json:"phase,omitzero"`
	// Deal counts the proposals that began a deal.
	Deal int `json:"deal,omitzero"`
	// Last is the hash of the parties' latest message, and At its timestamp.
	Last Hash      `json:"last,omitzero"`
	At   time.Time `json:"at,omitzero"`
	// Due is the latest time of the next message; zero if there is none.
	Due time.Time `json:"due,omitzero"`
	// Terms are the latest terms, offered by TermsBy.
	Terms   Terms `json:"terms,omitzero"`
	TermsBy Role  `json:"terms_by,omitzero"`
	// SeekerAccept and WorkerAccept are the hashes of the accept messages of this deal.
	SeekerAccept Hash `json:"seeker_accept,omitzero"`
	WorkerAccept Hash `json:"worker_accept,omitzero"`
	// SeekerContract and WorkerContract are the hashes of the contract's copies.
	SeekerContract Hash `json:"seeker_contract,omitzero"`
	WorkerContract Hash `json:"worker_contract,omitzero"`
}

// allowed are the types that a role may send in a phase.
var allowed = map[Phase]map[Role][]Type{
	PhaseIdle: {
		RoleSeeker: {TypeInquiry, TypeProposal},
		RoleWorker: {TypeCapability},
	},
	PhaseNegotiating: {
		RoleSeeker: {TypeProposal, TypeClarification, TypeAccept, TypeReject},
		RoleWorker: {TypeClarification, TypeCounter, TypeAccept, TypeReject},
	},
	PhaseContracted: {
		RoleSeeker: {TypeProposal, TypeAccept},
		RoleWorker: {TypeAccept},
		RoleSystem: {TypeContract},
	},
	PhaseDeclined: {
		RoleSeeker: {TypeInquiry, TypeProposal},
		RoleWorker: {TypeCapability},
	},
}

// isAllowed reports whether a role may send a type in a phase, and in any phase.
func isAllowed(phase Phase, role Role, sent Type) (inPhase, ever bool) {
	for other, roles := range allowed {
		if slices.Contains(roles[role], sent) {
			inPhase, ever = inPhase || other == phase, true
		}
	}
	return inPhase, ever
}

// Expire returns the state at a time: a deal whose response is overdue is abandoned. This includes the second
// accept: the side that accepts first would otherwise be bound for as long as the other one likes.
func (s State) Expire(now time.Time) State {
	if !s.Due.IsZero() && now.After(s.Due) {
		s.Phase, s.Due = PhaseIdle, time.Time{}
	}
	return s
}

// role returns the sender's role.
func (s State) role(m *Message, rules Rules) (Role, error) {
	switch {
	case rules.System != "" && m.from == rules.System && (m.to == s.Seeker || m.to == s.Worker):
		return RoleSystem, nil
	case s.Conversation == "":
		// The first message makes its sender the seeker.
		if m.from == m.to {
			return "", refuse(ReasonParty, "to: must differ from from")
		}
		return RoleSeeker, nil
	case m.from == s.Seeker && m.to == s.Worker:
		return RoleSeeker, nil
	case m.from == s.Worker && m.to == s.Seeker:
		return RoleWorker, nil
	}
	return "", refuse(ReasonParty, "from, to: not the parties of the conversation")
}

// Next returns the state after a message that arrives at a time. It returns the unchanged state and a
// [*Refusal] if the message is not allowed. It does not check the signature: see [Message.Verify].
func (s State) Next(m *Message, now time.Time, rules Rules) (State, error) {
	before := s
	if m.Hash() == s.Last {
		return before, refuse(ReasonDuplicate, "the message is the latest one")
	}
	if s.Conversation != "" && m.conversation != s.Conversation {
		return before, refuse(ReasonConversation, "conversation_id: another conversation")
	}
	if skew := m.at.Sub(now).Abs(); skew > cmp.Or(rules.MaxSkew, maxSkew) {
		return before, refuse(ReasonClock, "timestamp: %s from the receiver's clock", skew.Round(time.Second))
	}
	role, err := s.role(m, rules)
	if err != nil {
		return before, err
	}
	s = s.Expire(now)
	s.Phase = cmp.Or(s.Phase, PhaseIdle)
	sent := m.payload.Type()
	switch allowed, ever := isAllowed(s.Phase, role, sent); {
	case !ever:
		return before, refuse(ReasonRole, "type: a %s does not send %s", role, sent)
	case !allowed:
		return before, refuse(ReasonState, "type: no %s in state %s", sent, s.Phase)
	}
	if err := s.checkOrder(m, rules); err != nil {
		return before, err
	}
	if s, err = s.apply(m, role); err != nil {
		return before, err
	}
	if s.Conversation == "" {
		s.Conversation, s.Seeker, s.Worker = m.conversation, m.from, m.to
	}
	if sent != TypeContract {
		s.Last, s.At = m.Hash(), m.at
	}
	s.Due = s.due(m, now, rules.Timeouts.WithDefaults(), before)
	return s, nil
}

// checkOrder refuses a message that does not follow the latest one.
func (s State) checkOrder(m *Message, rules Rules) error {
	reply := m.payload.reply()
	switch {
	case s.Last == "" && reply != "":
		return refuse(ReasonOrder, "in_reply_to: the first message has none")
	case reply == "" && s.Last != "" && !rules.Lenient:
		return refuse(ReasonOrder, "in_reply_to: missing")
	case reply != "" && reply != s.Last:
		return refuse(ReasonOrder, "in_reply_to: not the latest message")
	case m.at.Before(s.At):
		return refuse(ReasonOrder, "timestamp: before the latest message")
	}
	return nil
}

// apply returns the state after the content of an allowed message.
func (s State) apply(m *Message, role Role) (State, error) {
	switch content := m.payload.(type) {
	case *Proposal:
		if s.Phase != PhaseNegotiating {
			s.Deal++
			s.SeekerAccept, s.WorkerAccept, s.SeekerContract, s.WorkerContract = "", "", "", ""
		}
		s.Phase, s.TermsBy = PhaseNegotiating, role
		s.Terms = Terms{Price: content.Budget, Deadline: content.Deadline, Arbiter: content.Arbiter}
	case *Counter:
		s.TermsBy = role
		s.Terms = Terms{
			Price: content.Price, Deadline: content.EstimatedDelivery, Arbiter: cmp.Or(content.Arbiter, s.Terms.Arbiter),
		}
	case *Accept:
		return s.accept(m, content, role)
	case *Reject:
		s.Phase = PhaseDeclined
	case *Contract:
		return s.contract(m, content)
	}
	return s, nil
}

// accept processes an acceptance. The first one comes from the side that has not offered the terms; the other
// side then signs them as well, so that the contract can name two accept messages.
func (s State) accept(m *Message, content *Accept, role Role) (State, error) {
	mine := &s.SeekerAccept
	if role == RoleWorker {
		mine = &s.WorkerAccept
	}
	switch {
	case content.Terms != s.Terms:
		return s, refuse(ReasonTerms, "accepted_terms: not the latest terms")
	case s.Phase == PhaseNegotiating && role == s.TermsBy:
		return s, refuse(ReasonState, "accept: the %s has offered these terms; the other side accepts first", role)
	case *mine != "":
		return s, refuse(ReasonState, "accept: the %s has accepted", role)
	}
	*mine, s.Phase = m.Hash(), PhaseContracted
	return s, nil
}

// contract processes a copy of the contract. Each side gets one, so neither is part of the other's log.
func (s State) contract(m *Message, content *Contract) (State, error) {
	if content.Terms != s.Terms || content.SeekerAccept != s.SeekerAccept ||
		content.WorkerAccept != s.WorkerAccept || s.SeekerAccept == "" || s.WorkerAccept == "" {
		return s, refuse(ReasonTerms, "contract: not the terms that both sides have accepted")
	}
	kept := &s.SeekerContract
	if m.to == s.Worker {
		kept = &s.WorkerContract
	}
	switch {
	case *kept == m.Hash():
		return s, refuse(ReasonDuplicate, "the message is the contract's copy again")
	case *kept != "":
		return s, refuse(ReasonState, "contract: this side has a copy")
	}
	*kept = m.Hash()
	return s, nil
}

// due returns the latest time of the response to a message that arrived at a time.
func (s State) due(m *Message, now time.Time, timeouts Timeouts, before State) time.Time {
	switch {
	case s.Phase == PhaseContracted && (s.SeekerAccept == "" || s.WorkerAccept == ""):
		return now.Add(timeouts.Acceptance)
	case s.Phase != PhaseNegotiating:
		return time.Time{}
	case m.payload.Type() == TypeClarification:
		return now.Add(timeouts.Clarification)
	case s.Deal != before.Deal:
		return now.Add(timeouts.FirstResponse)
	}
	return now.Add(timeouts.Acceptance)
}
