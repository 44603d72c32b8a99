package hire

import (
	"cmp"
	"slices"
	"time"
)

// Phase is a conversation phase.
type Phase string

// The phases. A conversation returns to PhaseIdle by a timeout. In PhaseContracted and PhaseDeclined the next
// deal's proposal leads to PhaseNegotiating.
const (
	PhaseIdle        Phase = "IDLE"
	PhaseNegotiating Phase = "NEGOTIATING"
	PhaseContracted  Phase = "CONTRACTED"
	PhaseDeclined    Phase = "DECLINED"
)

// Role is a sender's role.
type Role string

// Roles. The system is the settlement key pinned by both sides.
const (
	RoleSeeker Role = "seeker"
	RoleWorker Role = "worker"
	RoleSystem Role = "system"
)

// Rules are applied by receivers. The zero value means the protocol's defaults.
type Rules struct {
	Timeouts Timeouts
	// System holds the settlement key's id. If unset, contracts are refused.
	System string
	// MaxSkew limits the difference between a timestamp and the receiver's clock. If zero, 30 seconds are used.
	MaxSkew time.Duration
	// Lenient accepts messages without in_reply_to. The caller should log them.
	Lenient bool
}

// CapabilityDue returns when an inquiry counts as unanswered: the protocol sets no timeout, so the first
// response timeout for proposals is used.
func (r Rules) CapabilityDue(inquiry time.Time) time.Time {
	return inquiry.Add(r.Timeouts.WithDefaults().FirstResponse)
}

// maxSkew is [Rules].MaxSkew by default.
const maxSkew = 30 * time.Second

// State describes a conversation, as a function of message contents and times. The zero value is a conversation
// without messages.
type State struct {
	// Conversation, Seeker and Worker hold the conversation's and parties' ids.
	Conversation string `json:"conversation_id,omitzero"`
	Seeker       string `json:"seeker,omitzero"`
	Worker       string `json:"worker,omitzero"`
	Phase        Phase  `json:"phase,omitzero"`
	// Deal counts the proposals that began a deal.
	Deal int `json:"deal,omitzero"`
	// Last is the hash of the parties' latest message, and At that message's timestamp.
	Last Hash      `json:"last,omitzero"`
	At   time.Time `json:"at,omitzero"`
	// Due is the next message's deadline, if any.
	Due time.Time `json:"due,omitzero"`
	// Terms holds the latest terms, offered by TermsBy.
	Terms   Terms `json:"terms,omitzero"`
	TermsBy Role  `json:"terms_by,omitzero"`
	// SeekerAccept and WorkerAccept hash this deal's accept messages.
	SeekerAccept Hash `json:"seeker_accept,omitzero"`
	WorkerAccept Hash `json:"worker_accept,omitzero"`
	// SeekerContract and WorkerContract hash the contract's copies.
	SeekerContract Hash `json:"seeker_contract,omitzero"`
	WorkerContract Hash `json:"worker_contract,omitzero"`
}

// allowed lists the types allowed by phase and role.
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

// isAllowed reports whether the role may send the type in the phase, and in any phase.
func isAllowed(phase Phase, role Role, sent Type) (inPhase, ever bool) {
	for other, roles := range allowed {
		if slices.Contains(roles[role], sent) {
			inPhase, ever = inPhase || other == phase, true
		}
	}
	return inPhase, ever
}

// Expire updates the state to the given time: deals with overdue responses are abandoned. This includes the
// second accept: otherwise the side that accepts first would stay bound as long as the counterpart likes.
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
		// The first sender becomes the seeker.
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

// Next applies a message that arrived at the given time. It returns the unchanged state and a [*Refusal] if the
// message is not allowed. It does not check the signature: see [Message.Verify].
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

// checkOrder refuses messages that do not follow the latest message.
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

// apply applies an allowed message's content.
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

// accept processes an acceptance. The side that did not offer the terms accepts first; the offering side then
// signs them as well, so that the contract can name two accept messages.
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

// contract processes a copy of the contract. Each side receives a copy, so neither copy is part of the
// counterpart's log.
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

// due returns the response deadline, given the message's arrival time.
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
