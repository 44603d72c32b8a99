package hire

import (
	"encoding/json"
	"fmt"
)

// Text is prose of a peer: a task, a question, an answer. It is untrusted, and no string, so that it reaches
// neither a decision about money nor a prompt by accident.
type Text struct{ prose string }

// NewText returns a text for a message of one's own.
func NewText(prose string) Text { return Text{prose} }

// Untrusted returns the prose. Mark it as quoted data wherever a language model or a person reads it.
func (t Text) Untrusted() string { return t.prose }

// Format writes the length instead of the prose.
func (t Text) Format(to fmt.State, _ rune) {
	fmt.Fprintf(to, "untrusted text of %d bytes", len(t.prose))
}

// MarshalJSON returns the prose as a JSON string.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(t.prose) }

// UnmarshalJSON reads a JSON string.
func (t *Text) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &t.prose) }
