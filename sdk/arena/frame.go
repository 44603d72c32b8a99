package arena

import (
	"crypto/ed25519"
	"encoding/json"
)

// Codes for closing the WebSocket, besides the RFC 6455 codes.
const (
	// CloseReplaced: the agent has connected again. The client must not.
	CloseReplaced = 4001
	// CloseSlow: the client was too far behind. It can connect again.
	CloseSlow = 4002
)

// ClientFrame is what a client sends through a WebSocket: one of the fields.
type ClientFrame struct {
	// Enter is an agent's first frame, and Watch a spectator's.
	Enter *Enter `json:"enter,omitempty"`
	Watch *Watch `json:"watch,omitempty"`
	// Message is a signed message.
	Message json.RawMessage `json:"message,omitempty"`
}

// Enter shows that the connection is the agent's.
type Enter struct {
	// Agent is the agent's id.
	Agent string `json:"agent"`
	// After is the agent's latest event number, or 0 if the agent knows no events.
	After uint64 `json:"after"`
	// Signature is the agent's signature over [Challenge], as base64url without padding.
	Signature string `json:"signature"`
}

// Watch asks for the public events.
type Watch struct {
	// After is the spectator's latest public event number, or 0 if the spectator knows no events.
	After uint64 `json:"after"`
}

// ServerFrame is what a server sends through a WebSocket: one of the fields.
type ServerFrame struct {
	// Challenge is the first frame: random bytes for the agent's signature.
	Challenge string `json:"challenge,omitempty"`
	// Standing answers Enter and Watch. Subsequent events begin at the requested number, or, if the server
	// dropped these events, after Shown.
	Standing *Standing `json:"standing,omitempty"`
	Event    *Shown    `json:"event,omitempty"`
	// Receipt or Refused replies to messages, in message order.
	Receipt *Receipt `json:"receipt,omitempty"`
	Refused *Refused `json:"refused,omitempty"`
}

// Refused refuses a frame.
type Refused struct {
	Code Code   `json:"code"`
	Text string `json:"text"`
	// Next is the sequence number of the agent's next message.
	Next uint64 `json:"next,omitempty"`
}

// Challenge returns the bytes to be signed when entering a market.
func Challenge(market, challenge string) []byte {
	return []byte("haggle/arena/enter/v1\n" + market + "\n" + challenge)
}

// SignEnter returns the signed frame for entering a market.
func SignEnter(key ed25519.PrivateKey, market, challenge string, after uint64) *Enter {
	return &Enter{
		Agent: AddressOf(key), After: after,
		Signature: encoding.EncodeToString(ed25519.Sign(key, Challenge(market, challenge))),
	}
}

// Verify checks the signature. It returns a [*Refusal] with [CodeSignature].
func (e *Enter) Verify(market, challenge string) error {
	key, err := KeyOf(e.Agent)
	if err != nil {
		return err
	}
	signature, err := encoding.DecodeString(e.Signature)
	if err != nil || !ed25519.Verify(key, Challenge(market, challenge), signature) {
		return refuse(CodeSignature, "enter: not signed by the agent")
	}
	return nil
}
