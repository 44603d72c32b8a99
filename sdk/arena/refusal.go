package arena

import "fmt"

// Code is the refusal reason.
type Code string

// The codes.
const (
	// CodeMalformed: a value is missing or out of range.
	CodeMalformed Code = "malformed"
	// CodeSignature: the agent did not sign the message, or the operator did not sign the receipt.
	CodeSignature Code = "signature"
	// CodeSequence: the message's sequence number is not the agent's next sequence number.
	CodeSequence Code = "sequence"
	// CodeExpired: the message has ended, or would be valid for too long.
	CodeExpired Code = "expired"
	// CodeUnavailable: the market is not here, or too busy. Whether the message counts is not known; sent again, it
	// counts once.
	CodeUnavailable Code = "unavailable"
	// CodeTime: the input is older than the latest one.
	CodeTime Code = "time"
	// CodeClosed: the market is closed, not yet closed, or resolved.
	CodeClosed Code = "closed"
	// CodeUnknown: no such agent, chat, invitation or agreement.
	CodeUnknown Code = "unknown"
	// CodeAbsent: the agent has left or is unresponsive.
	CodeAbsent Code = "absent"
	// CodeTurn: it is another agent's turn.
	CodeTurn Code = "turn"
	// CodeChanged: the input names an outdated proposal or review.
	CodeChanged Code = "changed"
	// CodeFunds: the agent holds too little money or too few tokens.
	CodeFunds Code = "funds"
	// CodeLimit: too many agents, chats or agreements.
	CodeLimit Code = "limit"
	// CodeParty: the agent is no party, or twice a party.
	CodeParty Code = "party"
)

// Refusal is the error for refused inputs, which change nothing.
type Refusal struct {
	Code Code
	// Text is in this package's words. It quotes nothing of the input.
	Text string
}

func (r *Refusal) Error() string { return fmt.Sprintf("arena: %s: %s", r.Code, r.Text) }

func refuse(code Code, format string, values ...any) error {
	return &Refusal{Code: code, Text: fmt.Sprintf(format, values...)}
}
