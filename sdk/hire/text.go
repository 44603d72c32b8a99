package hire

import (
	"encoding/json"
	"fmt"
)

// Text is a peer's prose: a task, a question, an answer. It is untrusted, and not a string, so that it
// reaches neither money decisions nor prompts by accident.
type Text struct{ prose string }

// NewText returns a Text for own messages.
func NewText(prose string) Text { return Text{prose} }

// Untrusted returns the prose. Mark it as quoted data wherever language models or people read it.
func (t Text) Untrusted() string { return t.prose }

// Format writes the length instead of the prose.
func (t Text) Format(to fmt.State, _ rune) {
	fmt.Fprintf(to, "untrusted text of %d bytes", len(t.prose))
}

// MarshalJSON returns the prose as a JSON string.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(t.prose) }

// UnmarshalJSON reads a JSON string.
func (t *Text) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &t.prose) }
