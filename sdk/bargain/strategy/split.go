package strategy

import (
	"encoding/json"
	"strings"
)

// Split divides a list of strategies at its commas, but not at those between the parameters of one strategy,
// and removes the spaces around each: "micro, faratin-exponential:k=0.2,e=2" has two.
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

// cut returns the first text of a list, and the rest after its comma; more is false if there is no comma.
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

// continues reports whether a list goes on with a parameter's key, and not with a strategy's name.
func continues(list string) bool {
	at := strings.IndexAny(list, "=:,{")
	return at >= 0 && list[at] == '='
}
