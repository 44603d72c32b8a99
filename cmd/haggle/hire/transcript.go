package hire

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/haggle-protocol/haggle/internal/cli/languagemodel"
	"github.com/haggle-protocol/haggle/internal/cli/result"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/party"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

// messageView is the printed form of messages.
type messageView struct {
	// Direction is "sent" or "received".
	Direction    string    `json:"direction"`
	Type         hire.Type `json:"type"`
	From         string    `json:"from"`
	To           string    `json:"to"`
	Conversation string    `json:"conversation_id"`
	Time         time.Time `json:"time"`
	// Hash is the message hash, named by the next message.
	Hash hire.Hash `json:"hash"`
	// Payload is the content. Its texts are untrusted.
	Payload json.RawMessage `json:"payload"`
}

// actView is an action on chain.
type actView struct {
	// Action is the instruction's name in the IDL, and Result its effect.
	Action      string `json:"action"`
	Result      string `json:"result"`
	Negotiation string `json:"negotiation"`
	Signature   string `json:"signature"`
	// ConfirmationMS is the time until the confirmation, in milliseconds.
	ConfirmationMS int64 `json:"confirmation_ms"`
}

// dealView is a deal's end.
type dealView struct {
	Outcome      party.Outcome `json:"outcome"`
	Conversation string        `json:"conversation_id"`
	Deal         int           `json:"deal"`
	// Price is the agreed price; empty if not agreed.
	Price       hire.Price `json:"price,omitempty"`
	Negotiation string     `json:"negotiation,omitempty"`
	// Paid is the paid part of the price in base units, including the fee.
	Paid uint64 `json:"paid"`
	// Evidence is the delivery's SHA-256, if any.
	Evidence string `json:"evidence,omitempty"`
	// File is the path to the delivery.
	File string `json:"file,omitempty"`
	// Reason is a rejection's reason code, or an unsettled agreement's error.
	Reason string `json:"reason,omitempty"`
}

// transcript prints an agent's messages and actions. It may be used from several goroutines.
type transcript struct {
	out  io.Writer
	json bool
	// self is the agent's id, and name begins each line.
	self, name string

	lock sync.Mutex
}

func (t *transcript) print(document any, line string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.json {
		_ = json.NewEncoder(t.out).Encode(document)
		return
	}
	fmt.Fprintf(t.out, "%-6s  %s\n", t.name, line)
}

// decision prints a decision of language models.
func (t *transcript) decision(record llm.Record) {
	t.print(modelMove{record}, fmt.Sprintf("%-8s  %s", "decides", languagemodel.Text(record)))
}

// spent prints what language models have used, if there are any.
func (t *transcript) spent(models *llm.Player) {
	if models == nil {
		return
	}
	for _, spent := range models.Spending() {
		t.print(spent, fmt.Sprintf("%-8s  %s", "used", languagemodel.SpendingText(spent)))
	}
}

func (t *transcript) message(m *hire.Message) {
	v := viewOfMessage(m, t.self)
	t.print(v, v.line())
}

// line formats the message as a line.
func (v messageView) line() string {
	payload := hire.NewPayload(v.Type)
	if payload == nil || json.Unmarshal(v.Payload, payload) != nil {
		return v.Direction
	}
	return fmt.Sprintf("%-8s  %-13s  %s", v.Direction, v.Type, summary(payload))
}

// viewOfMessage returns the message as seen by the agent self.
func viewOfMessage(m *hire.Message, self string) messageView {
	v := messageView{
		Direction: "received", Type: m.Payload().Type(), From: m.From(), To: m.To(), Conversation: m.Conversation(),
		Time: m.At(), Hash: m.Hash(),
	}
	if m.From() == self {
		v.Direction = "sent"
	}
	v.Payload, _ = json.Marshal(m.Payload()) // it was parsed, so it can be encoded
	return v
}

// summary describes a payload with numbers and text lengths only.
func summary(payload hire.Payload) string {
	switch content := payload.(type) {
	case *hire.Inquiry:
		return fmt.Sprintf("%v", content.Need)
	case *hire.Capability:
		return strings.Join(content.Skills, ", ")
	case *hire.Proposal:
		return fmt.Sprintf("%s by %s", content.Budget, content.Deadline)
	case *hire.Counter:
		return fmt.Sprintf("%s by %s", content.Price, content.EstimatedDelivery)
	case *hire.Clarification:
		return fmt.Sprintf("%d questions, %d answers", len(content.Questions), len(content.Answers))
	case *hire.Accept:
		return fmt.Sprintf("%s by %s", content.Terms.Price, content.Terms.Deadline)
	case *hire.Reject:
		return fmt.Sprintf("%.40q", content.Code)
	case *hire.Contract:
		return fmt.Sprintf("escrow %s", content.Settlement.Negotiation)
	}
	return ""
}

// act prints an action on chain.
func (t *transcript) act(act agent.Act) {
	v := actView{
		Action: act.Name, Result: result.Of(act.Name), Negotiation: act.Before.Address.String(),
		Signature: act.Receipt.Signature.String(), ConfirmationMS: act.Receipt.Elapsed.Milliseconds(),
	}
	t.print(v, v.line())
}

func (v actView) line() string { return fmt.Sprintf("%-8s  %s", "on chain", v.Result) }

// deal prints a deal's end.
func (t *transcript) deal(v dealView) { t.print(v, v.line()) }

func (v dealView) line() string {
	line := fmt.Sprintf("%-8s  %s", "ended", v.Outcome)
	if v.Price != "" {
		line += ": " + string(v.Price)
	}
	if v.File != "" {
		line += ", delivery in " + v.File
	}
	if v.Reason != "" {
		line += " (" + v.Reason + ")"
	}
	return line
}

// viewOf returns a deal's end.
func viewOf(r party.Result) dealView {
	v := dealView{
		Outcome: r.Outcome, Conversation: r.Conversation, Deal: r.Deal, Price: r.Terms.Price, Paid: r.Paid, Reason: r.Code,
	}
	if !r.Negotiation.IsZero() {
		v.Negotiation = r.Negotiation.String()
	}
	if r.Delivery != nil {
		v.Evidence = fmt.Sprintf("%x", r.Delivery.Evidence[:])
	}
	if r.Err != nil {
		v.Reason = r.Err.Error()
	}
	return v
}
