package llmtest

import (
	"net/http"
	"regexp"
	"strings"
	"time"
)

// altered is a fault in the model output.
func altered(name string, alter func(x *exchange, text string) string) Fault {
	return Fault{name: name, alter: func(x *exchange, result *outcome) {
		result.text = alter(x, result.text)
		x.limit(result)
	}}
}

// Prose lets the model respond with a sentence around the output.
func Prose() Fault {
	return altered("prose", func(_ *exchange, text string) string {
		return "Here is my offer:\n" + text + "\nI hope it helps."
	})
}

// MalformedText lets the model's JSON end too early.
func MalformedText() Fault {
	return altered("malformed text", func(_ *exchange, text string) string { return text[:len(text)/2] })
}

// WrongSchema lets the model respond with JSON that does not follow the schema.
func WrongSchema() Fault {
	return altered("wrong schema", func(*exchange, string) string { return `{"unexpected":[1,{"move":null}]}` })
}

var (
	jsonNumber    = regexp.MustCompile(`([:,\[]\s*)-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?`)
	decimalString = regexp.MustCompile(`"-?[0-9]+(\.[0-9]+)?"`)
)

// LimitBreaking replaces all numbers in the model output, and all strings that are decimal numbers, by numbers
// outside of any limit.
func LimitBreaking() Fault {
	return altered("limit-breaking numbers", func(x *exchange, text string) string {
		numbers := [...]string{
			"-1", "999999999999999999999999", "0", "1e300", "-18446744073709551616", "0.0000000000000000001",
		}
		number := numbers[x.request.Number%len(numbers)]
		text = decimalString.ReplaceAllString(text, `"`+number+`"`)
		return jsonNumber.ReplaceAllString(text, "${1}"+number)
	})
}

// EchoKey lets the model output repeat the API key, as behind a proxy that logs into responses.
func EchoKey() Fault {
	return altered("echo of the key", func(x *exchange, text string) string {
		return `{"reason":"` + x.server.Key() + `",` + strings.TrimPrefix(text, "{")
	})
}

// ended is a fault at the model output's end.
func ended(name string, end finish) Fault {
	return Fault{name: name, alter: func(_ *exchange, result *outcome) { result.finish = end }}
}

// Refusal lets the model refuse.
func Refusal() Fault { return ended("refusal", refused) }

// Filtered ends the model output by a content filter. At [Messages], it is a refusal.
func Filtered() Fault { return ended("filtered response", filtered) }

// ToolCall lets the model call an undefined tool.
func ToolCall() Fault { return ended("tool call", toolCall) }

// Truncated ends the model output in the middle, at the token limit.
func Truncated() Fault {
	return Fault{name: "truncated response", alter: func(x *exchange, result *outcome) {
		result.text, result.finish = result.text[:len(result.text)/2], truncated
		result.usage.Output = int64(x.request.MaxTokens)
	}}
}

// NoChoices responds with no output.
func NoChoices() Fault {
	return Fault{name: "no choices", alter: func(_ *exchange, result *outcome) { result.empty = true }}
}

// Extra adds fields and items that clients do not know. The response is valid.
func Extra() Fault {
	return Fault{name: "unknown fields", alter: func(_ *exchange, result *outcome) { result.extra = true }}
}

// NoUsage leaves out the token counts. The response is valid.
func NoUsage() Fault {
	return Fault{name: "no usage", alter: func(_ *exchange, result *outcome) { result.hidden = true }}
}

// NegativeUsage reports negative token counts. The response is valid.
func NegativeUsage() Fault {
	return Fault{name: "negative usage", alter: func(_ *exchange, result *outcome) { result.negative = true }}
}

// Faults returns one of each kind of fault, except for [Redirect]. Those that ask to wait ask for two
// seconds, and [SlowBody] does not pause.
func Faults() []Fault {
	const pause = 2 * time.Second
	return []Fault{
		Status(http.StatusInternalServerError), Status(http.StatusServiceUnavailable), Status(statusOverloaded),
		Status(http.StatusTooManyRequests), Status(http.StatusUnauthorized), Status(http.StatusNotFound),
		RateLimit(pause), RateLimitDate(pause), InsufficientQuota(), ContentFilter(), Disconnect(), Hang(),
		EchoRequest(), NotHTTP(), Stall(), CutBody(), SlowBody(0), EnormousBody(), CompressedBody(),
		MalformedBody(), EmptyBody(), WrongContentType(), Prose(), MalformedText(), WrongSchema(),
		LimitBreaking(), EchoKey(), Refusal(), Filtered(), ToolCall(), Truncated(), NoChoices(), Extra(),
		NoUsage(), NegativeUsage(),
	}
}
