package hire

import "fmt"

// Reason is a code for refusing messages.
type Reason string

// Refusal reasons. The peer receives the reason with an explanation.
const (
	// ReasonMalformed: not a single JSON object of the documented form and size.
	ReasonMalformed Reason = "malformed"
	// ReasonVersion: another protocol or version.
	ReasonVersion Reason = "unsupported_version"
	// ReasonSignature: no valid signature of the sender's key.
	ReasonSignature Reason = "bad_signature"
	// ReasonClock: the timestamp is further from the receiver's clock than MaxSkew.
	ReasonClock Reason = "clock_skew"
	// ReasonParty: the sender or recipient is not a party of the conversation.
	ReasonParty Reason = "wrong_party"
	// ReasonConversation: it belongs to another conversation.
	ReasonConversation Reason = "wrong_conversation"
	// ReasonRole: the sender's role must not send this type.
	ReasonRole Reason = "wrong_role"
	// ReasonState: the type does not fit the conversation state.
	ReasonState Reason = "wrong_state"
	// ReasonOrder: in_reply_to does not match the latest message's hash, or the timestamp is earlier than the
	// latest message's timestamp.
	ReasonOrder Reason = "out_of_order"
	// ReasonDuplicate: the latest message was sent again. It causes no further effect.
	ReasonDuplicate Reason = "duplicate"
	// ReasonIdentity: the sender's id contains no Ed25519 key, and the receiver knows none for it.
	ReasonIdentity Reason = "unknown_identity"
	// ReasonKey: the sender's origin uses another key than the pinned key, which did not sign it.
	ReasonKey Reason = "changed_key"
	// ReasonPrice: the price is not settled: unknown symbol, more decimals than the mint, too small or too large.
	ReasonPrice Reason = "bad_price"
	// ReasonTerms: accepted or contracted terms are not the latest ones.
	ReasonTerms Reason = "other_terms"
	// ReasonTooMany: the conversation contains [MaxMessages] messages.
	ReasonTooMany Reason = "too_many"
)

// Reasons returns all reasons.
func Reasons() []Reason {
	return []Reason{ReasonMalformed, ReasonVersion, ReasonIdentity, ReasonKey, ReasonSignature, ReasonClock, ReasonParty,
		ReasonConversation, ReasonRole, ReasonState, ReasonOrder, ReasonDuplicate, ReasonTerms, ReasonPrice,
		ReasonTooMany}
}

// Refusal is an error for refused messages, which change nothing.
type Refusal struct {
	// Reason contains the code.
	Reason Reason
	// Text describes the problem in this package's words. It quotes nothing from messages but field names.
	Text string
}

func (r *Refusal) Error() string { return fmt.Sprintf("hire: %s: %s", r.Reason, r.Text) }

func refuse(reason Reason, format string, values ...any) error {
	return &Refusal{Reason: reason, Text: fmt.Sprintf(format, values...)}
}
