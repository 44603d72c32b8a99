package arena

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go/base58"

	"github.com/haggle-protocol/haggle/sdk/internal/strictjson"
)

// Protocol is the protocol version of every message.
const Protocol = "arena/1"

// Message limits.
const (
	// MaxSize is the maximum message size in bytes.
	MaxSize = 16 << 10
	// MaxDepth is the number of nested objects and arrays.
	MaxDepth = 8
	// MaxExpiry is the longest time from a message's arrival to the expiry.
	MaxExpiry = 5 * time.Minute
	// maxSequence keeps numbers within those that JSON has exactly.
	maxSequence = 1<<53 - 1
)

// encoding is the encoding of signatures: base64url without padding (RFC 4648).
var encoding = base64.RawURLEncoding.Strict()

// Draft is an agent's unsigned action.
type Draft struct {
	// Market is the market's id.
	Market string
	// Sequence numbers the actions of the agent in the market that were accepted, from 1.
	Sequence uint64
	// Seen is the number of the latest event that the agent had seen; 0 for none.
	Seen uint64
	// Expires is the latest time when the market accepts the message, in whole seconds: at most [MaxExpiry]
	// from now.
	Expires time.Time
	Action  Action
}

// Message is a signed action. It never changes.
type Message struct {
	draft     Draft
	agent     string
	signature []byte
	// signed holds the bytes covered by the signature, and text the whole message's bytes, both canonical.
	signed, text []byte
}

// Envelope is a JSON message. All fields are required; only the bytes that are signed have no signature.
type Envelope struct {
	Protocol string `json:"protocol" jsonschema:"enum=arena/1"`
	// Market is the market's id.
	Market string `json:"market" jsonschema:"minLength=1,maxLength=64"`
	// Agent is the acting agent's Solana address.
	Agent string `json:"agent" jsonschema:"minLength=1,maxLength=64"`
	// Sequence numbers the actions of the agent in the market that were accepted, from 1.
	Sequence uint64 `json:"sequence" jsonschema:"minimum=1"`
	// Seen is the number of the latest event that the agent had seen; 0 for none.
	Seen uint64 `json:"seen"`
	// Expires is the latest time when the market accepts the message, in UTC and whole seconds.
	Expires string `json:"expires" jsonschema:"format=date-time"`
	// Kind names the action.
	Kind   string          `json:"kind"`
	Action json.RawMessage `json:"action"`
	// Signature is the agent's Ed25519 signature, as base64url without padding.
	Signature string `json:"signature,omitempty" jsonschema:"minLength=86,maxLength=86"`
}

// Address returns the key's id, a Solana address.
func Address(key ed25519.PublicKey) string { return base58.Encode(key) }

// AddressOf returns the id of the agent with a key.
func AddressOf(key ed25519.PrivateKey) string { return Address(key.Public().(ed25519.PublicKey)) }

// KeyOf returns the id's key. It returns a [*Refusal] with [CodeSignature] if the id is not a Solana address.
func KeyOf(id string) (ed25519.PublicKey, error) {
	key, err := base58.Decode(id)
	if err != nil || len(key) != ed25519.PublicKeySize || base58.Encode(key) != id {
		return nil, refuse(CodeSignature, "agent: not a Solana address")
	}
	return key, nil
}

// Draft returns the message content.
func (m *Message) Draft() Draft { return m.draft }

// Agent returns the id of the agent that acts.
func (m *Message) Agent() string { return m.agent }

// Text returns the canonical form (RFC 8785).
func (m *Message) Text() []byte { return bytes.Clone(m.text) }

// Verify checks the signature. It returns a [*Refusal] with [CodeSignature].
func (m *Message) Verify() error {
	key, err := KeyOf(m.agent)
	if err != nil {
		return err
	}
	if !ed25519.Verify(key, m.signed, m.signature) {
		return refuse(CodeSignature, "signature: not the agent's Ed25519 signature")
	}
	return nil
}

// Sign signs the message, and returns an error if Parse would refuse it.
func Sign(key ed25519.PrivateKey, draft Draft) (*Message, error) {
	if draft.Action == nil {
		return nil, refuse(CodeMalformed, "action: not set")
	}
	action, err := json.Marshal(draft.Action)
	if err != nil {
		return nil, fmt.Errorf("arena: action: %w", err)
	}
	unsigned := Envelope{
		Protocol: Protocol, Market: draft.Market, Agent: AddressOf(key),
		Sequence: draft.Sequence, Seen: draft.Seen, Expires: draft.Expires.UTC().Format(time.RFC3339),
		Kind: draft.Action.Kind(), Action: action,
	}
	signed, err := strictjson.Canonical(unsigned)
	if err != nil {
		return nil, fmt.Errorf("arena: %w", err)
	}
	unsigned.Signature = encoding.EncodeToString(ed25519.Sign(key, signed))
	text, err := strictjson.Canonical(unsigned)
	if err != nil {
		return nil, fmt.Errorf("arena: %w", err)
	}
	return Parse(text)
}

// Parse decodes data. It returns a [*Refusal] with [CodeMalformed] unless data is a single JSON object with
// the documented fields, written as documented. It does not check the signature.
func Parse(data []byte) (*Message, error) {
	if err := strictjson.Check(data, MaxSize, MaxDepth); err != nil {
		return nil, refuse(CodeMalformed, "%v", err)
	}
	// Canonicalize before decoding: it rounds numbers above 2^53, and the action must match the signed bytes.
	text, err := strictjson.Canonical(json.RawMessage(data))
	if err != nil {
		return nil, refuse(CodeMalformed, "not canonical JSON")
	}
	var read Envelope
	if err := strictjson.Decode(text, &read); err != nil {
		return nil, refuse(CodeMalformed, "unknown field, or another type of value")
	}
	expires, err := time.Parse(time.RFC3339, read.Expires)
	switch {
	case read.Protocol != Protocol:
		return nil, refuse(CodeMalformed, "protocol: must be %s", Protocol)
	case !isName(read.Market) || !isName(read.Agent):
		return nil, refuse(CodeMalformed, "market, agent: must have 1 to %d bytes", MaxName)
	case read.Sequence == 0 || read.Sequence > maxSequence || read.Seen > maxSequence:
		return nil, refuse(CodeMalformed, "sequence, seen: out of range")
	case err != nil:
		return nil, refuse(CodeMalformed, "expires: must be a time of RFC 3339 in UTC")
	}
	m := &Message{agent: read.Agent, text: text}
	if m.signature, err = encoding.DecodeString(read.Signature); err != nil || len(m.signature) != ed25519.SignatureSize {
		return nil, refuse(CodeMalformed, "signature: must be %d bytes in base64url", ed25519.SignatureSize)
	}
	action, err := decodeKind[Action](actions, read.Kind, read.Action)
	if err != nil {
		return nil, err
	}
	m.draft = Draft{Market: read.Market, Sequence: read.Sequence, Seen: read.Seen, Expires: expires.UTC(), Action: action}
	// Re-encoding the fields must reproduce data, so that every reader reads the same.
	read.Expires = m.draft.Expires.Format(time.RFC3339)
	if read.Action, err = json.Marshal(action); err != nil {
		return nil, refuse(CodeMalformed, "action: cannot be encoded")
	}
	if own, err := strictjson.Canonical(read); err != nil || !bytes.Equal(own, text) {
		return nil, refuse(CodeMalformed, "fields must be spelled as documented, without null and empty optional values")
	}
	read.Signature = ""
	if m.signed, err = strictjson.Canonical(read); err != nil {
		return nil, refuse(CodeMalformed, "not canonical JSON")
	}
	return m, nil
}
