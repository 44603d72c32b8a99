package terms

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Purpose is a content use. The zero value is no purpose.
type Purpose uint8

// The purposes.
const (
	// Inference uses content as model input to answer a request.
	Inference Purpose = iota + 1
	// Training computes model weights from content.
	Training
	// FineTuning adapts an existing model's weights.
	FineTuning
	// Retrieval keeps content in an index used to choose a model's input.
	Retrieval
	// Search shows links to content, with extracts, in a list of results.
	Search
	// Summarization publishes summaries of content.
	Summarization
	// Research evaluates content, but makes no product.
	Research
)

var purposeNames = [...]string{
	"inference", "training", "fine_tuning", "retrieval", "search", "summarization", "research",
}

var purposeList = strings.Join(purposeNames[:], ", ")

// Purposes returns all purposes in ascending order.
func Purposes() []Purpose {
	all := make([]Purpose, len(purposeNames))
	for at := range all {
		all[at] = Purpose(at + 1)
	}
	return all
}

// ParsePurpose returns the purpose with a name.
func ParsePurpose(name string) (Purpose, error) {
	at := slices.Index(purposeNames[:], name)
	if at < 0 {
		return 0, fmt.Errorf("unknown purpose %.40q; use one of %s", name, purposeList)
	}
	return Purpose(at + 1), nil
}

// IsValid reports whether the purpose is one of the constants.
func (p Purpose) IsValid() bool { return p >= 1 && int(p) <= len(purposeNames) }

func (p Purpose) String() string {
	if !p.IsValid() {
		return fmt.Sprintf("purpose %d", uint8(p))
	}
	return purposeNames[p-1]
}

// MarshalJSON writes the name.
func (p Purpose) MarshalJSON() ([]byte, error) {
	if !p.IsValid() {
		return nil, fmt.Errorf("%w: unknown %s", ErrInvalid, p)
	}
	return json.Marshal(p.String())
}

// UnmarshalJSON reads a name.
func (p *Purpose) UnmarshalJSON(data []byte) error {
	var name string
	if err := json.Unmarshal(data, &name); err != nil {
		return fmt.Errorf("a purpose is a string: one of %s", purposeList)
	}
	parsed, err := ParsePurpose(name)
	if err == nil {
		*p = parsed
	}
	return err
}

// CheckPurposes fails if a purpose is unknown or occurs twice. The list can be empty.
func CheckPurposes(list []Purpose) error {
	for at, purpose := range list {
		switch {
		case !purpose.IsValid():
			return fmt.Errorf("unknown %s; use %s", purpose, purposeList)
		case slices.Contains(list[:at], purpose):
			return fmt.Errorf("%s occurs twice", purpose)
		}
	}
	return nil
}
