package strategy

import (
	"encoding/json"
	"strings"
)

// Split divides a list of strategies at its commas, but not at commas between a strategy's parameters, and
// trims spaces: "micro, faratin-exponential:k=0.2,e=2" lists two strategies.
func Split(list string) (texts []string) {
	for {
		text, rest, more := cut(list)
		texts = append(texts, strings.TrimSpace(text))
		if !more {
			return texts
		}
		list = rest
	}
}

// cut returns a list's first text, and the rest after the comma; more is false if there is no comma.
func cut(list string) (text, rest string, more bool) {
	if begin := strings.TrimLeft(list, " "); strings.HasPrefix(begin, "{") {
		decoder := json.NewDecoder(strings.NewReader(begin))
		if decoder.Decode(new(json.RawMessage)) != nil {
			return list, "", false // Parse reports the error
		}
		end := len(list) - len(begin) + int(decoder.InputOffset())
		comma := strings.IndexByte(list[end:], ',')
		if comma < 0 {
			return list, "", false
		}
		return list[:end+comma], list[end+comma+1:], true
	}
	for end := 0; ; end++ {
		comma := strings.IndexByte(list[end:], ',')
		if comma < 0 {
			return list, "", false
		}
		end += comma
		if !continues(list[end+1:]) {
			return list[:end], list[end+1:], true
		}
	}
}

// continues reports whether list starts with a parameter's key rather than a strategy's name.
func continues(list string) bool {
	at := strings.IndexAny(list, "=:,{")
	return at >= 0 && list[at] == '='
}
