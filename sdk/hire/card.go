package hire

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/internal/strictjson"
)

// CardPath is an agent card's path on the origin.
const CardPath = "/.well-known/hire.json"

// Card describes an agent whose id is an origin, such as https://agent.example. It is published at
// [CardPath], so that others find the agent, key and skills. It is signed with the agent's key.
type Card struct {
	Protocol string `json:"protocol"`
	// ID is the origin, and so the agent's id.
	ID string `json:"id"`
	// Key is the agent's Ed25519 key as a Solana address.
	Key Base58 `json:"key"`
	// Inbox accepts messages. The URL is at the same origin.
	Inbox string `json:"inbox"`
	// Settlement is the key that signs acceptable contracts. Agents that settle nothing leave it empty.
	Settlement Base58 `json:"settlement,omitzero"`
	// Skills and Prices are as in a [Capability].
	Skills []string    `json:"skills,omitzero"`
	Prices []UnitPrice `json:"price_per_unit,omitzero"`
	// Timeouts apply to the conversations at this origin, each from 1 second to [MaxTimeout]. If zero, the
	// defaults are used.
	Timeouts Timeouts `json:"timeouts,omitzero"`
	// PreviousKey was replaced by Key. It signs the card to prove that the agent itself changed the key.
	PreviousKey       Base58 `json:"previous_key,omitzero"`
	PreviousSignature string `json:"previous_signature,omitzero"`
	// Signature covers all fields but the two signatures, in canonical form (RFC 8785).
	Signature string `json:"signature,omitzero"`
}

// CheckOrigin returns an error unless id is an origin: https, a lower-case host and an optional port. An http
// origin must be local, by IP or name: localhost, 127.0.0.1 or [::1].
func CheckOrigin(id string) error {
	parsed, err := url.Parse(id)
	switch {
	case err != nil || len(id) > MaxIDLength || parsed.Host == "" || parsed.Hostname() == "" ||
		parsed.Scheme+"://"+strings.ToLower(parsed.Host) != id:
		return errors.New("hire: origin: must be https://HOST or https://HOST:PORT in lower case")
	case parsed.Scheme == "https" && parsed.Port() != "443", parsed.Scheme == "http" && isLocal(parsed.Hostname()):
		return nil
	}
	return errors.New("hire: origin: must be https with a port other than the default")
}

// isLocal reports whether the host is this machine.
func isLocal(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// SignCard returns the card in canonical form, signed with the key. It sets Protocol, Key and the signatures.
// previous, if not nil, is the key that this key replaces.
func SignCard(key, previous ed25519.PrivateKey, card Card) ([]byte, error) {
	card.Protocol, card.Key = Protocol, Base58(Address(key.Public().(ed25519.PublicKey)))
	card.PreviousKey = ""
	if previous != nil {
		card.PreviousKey = Base58(Address(previous.Public().(ed25519.PublicKey)))
	}
	signed, err := card.signed()
	if err != nil {
		return nil, err
	}
	card.Signature = encoding.EncodeToString(ed25519.Sign(key, signed))
	if previous != nil {
		card.PreviousSignature = encoding.EncodeToString(ed25519.Sign(previous, signed))
	}
	text, err := card.canonical()
	if err != nil {
		return nil, err
	}
	_, err = ParseCard(text, card.ID)
	return text, err
}

// Rules returns the rules of the conversations at this origin.
func (c *Card) Rules() Rules { return Rules{Timeouts: c.Timeouts, System: string(c.Settlement)} }

// ParseCard reads an origin's card. It returns a [*Refusal] with [ReasonMalformed], [ReasonVersion],
// [ReasonParty] for another origin's card, or [ReasonSignature].
func ParseCard(data []byte, origin string) (*Card, error) {
	if err := checkForm(data); err != nil {
		return nil, err
	}
	card := new(Card)
	if err := decode(data, card); err != nil {
		return nil, err
	}
	switch {
	case card.Protocol != Protocol:
		return nil, refuse(ReasonVersion, "protocol: must be %s", Protocol)
	case card.ID != origin || CheckOrigin(origin) != nil:
		return nil, refuse(ReasonParty, "id: not the origin of the card")
	case !strings.HasPrefix(card.Inbox, origin+"/"):
		return nil, refuse(ReasonMalformed, "inbox: not at the origin of the card")
	}
	if parsed, err := url.Parse(card.Inbox); err != nil || parsed.Fragment != "" || parsed.User != nil {
		return nil, refuse(ReasonMalformed, "inbox: not a URL without fragment and user")
	}
	text, err := strictjson.Canonical(json.RawMessage(data))
	own, ownErr := card.canonical()
	if err != nil || ownErr != nil || !bytes.Equal(text, own) {
		return nil, refuse(ReasonMalformed, "fields must be spelled as documented, without null and empty optional values")
	}
	if !card.verify(card.Key, card.Signature) {
		return nil, refuse(ReasonSignature, "signature: not the card's key's")
	}
	if (card.PreviousKey != "" || card.PreviousSignature != "") && !card.verify(card.PreviousKey, card.PreviousSignature) {
		return nil, refuse(ReasonSignature, "previous_signature: not the previous key's")
	}
	return card, nil
}

// Public returns the agent's key.
func (c *Card) Public() ed25519.PublicKey {
	key, _ := KeyOf(string(c.Key)) // ParseCard has checked the form
	return key
}

// Continues returns nil if the card contains the receiver's key pinned at first use, or a key signed by the
// pinned key. Otherwise the error is a [*Refusal] with [ReasonKey]: another agent may have taken over the
// origin.
func (c *Card) Continues(pinned ed25519.PublicKey) error {
	if address := Base58(Address(pinned)); c.Key == address || c.PreviousKey == address {
		return nil
	}
	return refuse(ReasonKey, "key: neither the pinned one nor signed by it")
}

func (c Card) canonical() ([]byte, error) {
	text, err := strictjson.Canonical(c)
	if err != nil {
		return nil, fmt.Errorf("hire: card: %w", err)
	}
	return text, nil
}

func (c Card) signed() ([]byte, error) {
	c.Signature, c.PreviousSignature = "", ""
	return c.canonical()
}

func (c Card) verify(by Base58, text string) bool {
	key, err := KeyOf(string(by))
	signature, decodeErr := encoding.DecodeString(text)
	signed, signedErr := c.signed()
	return err == nil && decodeErr == nil && signedErr == nil && ed25519.Verify(key, signed, signature)
}
