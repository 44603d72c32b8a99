package hire

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/sdk/internal/strictjson"
)

// Protocol is the protocol version of every message.
const Protocol = "HIRE/1.0"

// Message and conversation limits.
const (
	// MaxSize limits the message size in bytes.
	MaxSize = 64 << 10
	// MaxDepth limits the nesting of objects and arrays.
	MaxDepth = 8
	// MaxIDLength limits party and conversation ids in bytes.
	MaxIDLength = 256
	// MaxMessages limits the messages per conversation.
	MaxMessages = 500
)

// encoding encodes signatures as base64url without padding (RFC 4648). Every signature is encoded in exactly
// one way.
var encoding = base64.RawURLEncoding.Strict()

// Envelope is the JSON encoding. All fields are required; only the signed bytes lack the signature.
type Envelope struct {
	// Protocol is the protocol's version.
	Protocol string `json:"protocol" jsonschema:"enum=HIRE/1.0"`
	// Type is the payload type.
	Type Type `json:"type"`
	// From and To are the parties' ids.
	From string `json:"from" jsonschema:"minLength=1,maxLength=256"`
	To   string `json:"to" jsonschema:"minLength=1,maxLength=256"`
	// Timestamp is the sender's time.
	Timestamp Time `json:"timestamp"`
	// Conversation groups related messages.
	Conversation string          `json:"conversation_id" jsonschema:"minLength=1,maxLength=256"`
	Payload      json.RawMessage `json:"payload"`
	// Signature is the sender's Ed25519 signature, as base64url without padding.
	Signature string `json:"signature,omitzero" jsonschema:"minLength=1,maxLength=256"`
}

// Draft is an unsigned message. All fields are required.
type Draft struct {
	// From and To are the parties' ids.
	From, To string
	// At is the message's time.
	At time.Time
	// Conversation groups related messages.
	Conversation string
	Payload      Payload
}

// Message is an immutable signed message.
type Message struct {
	from, to, conversation string
	at                     time.Time
	payload                Payload
	signature              string
	// signed holds the bytes covered by the signature, and text the whole message's bytes, both canonical.
	signed, text []byte
}

// From returns the sender's id.
func (m *Message) From() string { return m.from }

// To returns the recipient's id.
func (m *Message) To() string { return m.to }

// Conversation returns the conversation's id.
func (m *Message) Conversation() string { return m.conversation }

// At returns the sender's time.
func (m *Message) At() time.Time { return m.at }

// Payload returns the content. Do not change it.
func (m *Message) Payload() Payload { return m.payload }

// InReplyTo returns the answered message's hash, or "" if this message begins a conversation.
func (m *Message) InReplyTo() Hash { return m.payload.reply() }

// Text returns the canonical form (RFC 8785).
func (m *Message) Text() []byte { return bytes.Clone(m.text) }

// Hash returns the hash named by the conversation's next message.
func (m *Message) Hash() Hash { return hashOf(m.text) }

// Verify checks the signature with the sender's key. It returns a [*Refusal] with [ReasonSignature].
func (m *Message) Verify(key ed25519.PublicKey) error {
	signature, err := encoding.DecodeString(m.signature)
	if err != nil || len(signature) != ed25519.SignatureSize || len(key) != ed25519.PublicKeySize ||
		!ed25519.Verify(key, m.signed, signature) {
		return refuse(ReasonSignature, "signature: not the sender's Ed25519 signature in base64url")
	}
	return nil
}

// Sign signs the draft, and fails if Parse would refuse it.
func Sign(key ed25519.PrivateKey, draft Draft) (*Message, error) {
	if draft.Payload == nil {
		return nil, errors.New("hire: payload not set")
	}
	payload, err := json.Marshal(draft.Payload)
	if err != nil {
		return nil, fmt.Errorf("hire: payload: %w", err)
	}
	unsigned := Envelope{
		Protocol: Protocol, Type: draft.Payload.Type(), From: draft.From, To: draft.To, Timestamp: NewTime(draft.At),
		Conversation: draft.Conversation, Payload: payload,
	}
	signed, err := unsigned.canonical()
	if err != nil {
		return nil, err
	}
	unsigned.Signature = encoding.EncodeToString(ed25519.Sign(key, signed))
	text, err := unsigned.canonical()
	if err != nil {
		return nil, err
	}
	return Parse(text)
}

// Parse decodes data. It returns a [*Refusal] with [ReasonMalformed] or [ReasonVersion] unless data is a
// single JSON object with the documented fields, written as documented: unknown, repeated and empty optional
// fields, null, and other key spellings are refused. It does not check the signature.
func Parse(data []byte) (*Message, error) {
	if err := checkForm(data); err != nil {
		return nil, err
	}
	var e Envelope
	if err := decode(data, &e); err != nil {
		return nil, err
	}
	if e.Protocol != Protocol {
		return nil, refuse(ReasonVersion, "protocol: must be %s", Protocol)
	}
	payload := NewPayload(e.Type)
	if payload == nil {
		return nil, refuse(ReasonMalformed, "type: unknown")
	}
	if err := decode(e.Payload, payload); err != nil {
		return nil, err
	}
	for _, id := range []struct{ field, value string }{
		{"from", e.From}, {"to", e.To}, {"conversation_id", e.Conversation}, {"signature", e.Signature},
	} {
		if id.value == "" || len(id.value) > MaxIDLength {
			return nil, refuse(ReasonMalformed, "%s: must have 1 to %d bytes", id.field, MaxIDLength)
		}
	}
	at, err := e.Timestamp.Parse()
	if err != nil {
		return nil, refuse(ReasonMalformed, "timestamp: %v", err)
	}
	m := &Message{
		from: e.From, to: e.To, conversation: e.Conversation, at: at, payload: payload, signature: e.Signature,
	}
	if m.text, err = strictjson.Canonical(json.RawMessage(data)); err != nil {
		return nil, refuse(ReasonMalformed, "not canonical JSON")
	}
	// Re-encoding the fields must reproduce data, so that every reader reads the same.
	if e.Payload, err = json.Marshal(payload); err != nil {
		return nil, refuse(ReasonMalformed, "payload: cannot be encoded")
	}
	own, err := e.canonical()
	if err != nil || !bytes.Equal(own, m.text) {
		return nil, refuse(ReasonMalformed, "fields must be spelled as documented, without null and empty optional values")
	}
	e.Signature = ""
	if m.signed, err = e.canonical(); err != nil {
		return nil, refuse(ReasonMalformed, "not canonical JSON")
	}
	return m, nil
}

// canonical returns the canonical form of RFC 8785.
func (e Envelope) canonical() ([]byte, error) {
	text, err := strictjson.Canonical(e)
	if err != nil {
		return nil, fmt.Errorf("hire: %w", err)
	}
	return text, nil
}

// decode reads one JSON value with known fields only.
func decode(data []byte, into any) error {
	switch err := strictjson.Decode(data, into); {
	case errors.As(err, new(*Refusal)):
		return err
	case err != nil:
		return refuse(ReasonMalformed, "unknown or missing field, or another type of value")
	}
	return nil
}

// checkForm makes checks that a decoder omits: size, encoding, depth, and a single object.
func checkForm(data []byte) error {
	if err := strictjson.Check(data, MaxSize, MaxDepth); err != nil {
		return refuse(ReasonMalformed, "%v", err)
	}
	return nil
}
