package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// domain separates the hashes of entries from all other uses of SHA-256.
const domain = "haggle/audit/entry/v1\x00"

// Entry is an event in the history of something, such as a negotiation or a conversation.
type Entry struct {
	// Chain is the chain's name. It is unique within a product, and not empty.
	Chain string `json:"chain"`
	// Sequence is the position in the chain, from 1.
	Sequence int64 `json:"sequence"`
	// Time is in UTC.
	Time time.Time `json:"time"`
	// By names the caller whose request caused the event, such as "administrator:" and the key ID. It is
	// empty if the server itself acted, such as on a timeout.
	By string `json:"by,omitempty"`
	// Kind names the event, such as "round".
	Kind string `json:"kind"`
	// Data describes the event.
	Data json.RawMessage `json:"data,omitempty"`
}

// Link is an entry as databases and exports contain it.
type Link struct {
	// Chain and Sequence identify the entry.
	Chain    string `json:"chain"`
	Sequence int64  `json:"sequence"`
	// Hash is SHA-256 in lowercase hexadecimal digits.
	Hash string `json:"hash"`
	// Text is the entry in canonical form. The hash covers these bytes.
	Text string `json:"text"`
}

// Canonical returns an entry's text: the fields in Entry order, without spaces. Data keeps the original bytes
// except for spaces. (RFC 8785 would round integers above 2^53.)
func Canonical(e Entry) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	e.Time = e.Time.UTC()
	if err := encoder.Encode(e); err != nil {
		return "", fmt.Errorf("audit chain %s: entry %d: %w", e.Chain, e.Sequence, err)
	}
	return string(bytes.TrimSuffix(text.Bytes(), []byte("\n"))), nil
}

// Hash returns an entry's hash. previous is the previous entry's hash. It is empty for the first entry.
func Hash(previous, text string) string {
	h := sha256.New()
	h.Write([]byte(domain))
	// Both hashes have a fixed length, so no two pairs give the same input.
	var before [sha256.Size]byte
	if decoded, err := hex.DecodeString(previous); err == nil {
		copy(before[:], decoded)
	}
	h.Write(before[:])
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// Head is a chain's state: the number of entries and the last entry's hash. An empty chain's head contains
// only the name.
type Head struct {
	Chain  string `json:"chain"`
	Length int64  `json:"length"`
	Hash   string `json:"head"`
}

// Append returns the links of further entries and the new head. It sets Chain and Sequence in each entry. It
// returns an error if the head names no chain, or if an entry's data is not valid JSON.
func Append(head Head, entries ...Entry) ([]Link, Head, error) {
	if head.Chain == "" {
		return nil, Head{}, errors.New("audit: chain not named")
	}
	links := make([]Link, 0, len(entries))
	for _, e := range entries {
		e.Chain, e.Sequence = head.Chain, head.Length+1
		text, err := Canonical(e)
		if err != nil {
			return nil, Head{}, err
		}
		head.Length, head.Hash = e.Sequence, Hash(head.Hash, text)
		links = append(links, Link{Chain: e.Chain, Sequence: e.Sequence, Text: text, Hash: head.Hash})
	}
	return links, head, nil
}
