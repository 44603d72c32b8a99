package llmtest

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Status responds with an HTTP error and the API's error body.
func Status(code int) Fault {
	return Fault{name: "status " + strconv.Itoa(code), before: func(x *exchange) { x.fail(statusProblem(code)) }}
}

func statusProblem(code int) problem {
	kinds := map[int][2]string{ // Anthropic's type, OpenAI's code
		http.StatusBadRequest:      {"invalid_request_error", ""},
		http.StatusUnauthorized:    {"authentication_error", "invalid_api_key"},
		http.StatusForbidden:       {"permission_error", ""},
		http.StatusNotFound:        {"not_found_error", "model_not_found"},
		http.StatusTooManyRequests: {"rate_limit_error", "rate_limit_exceeded"},
		statusOverloaded:           {"overloaded_error", ""},
	}
	kind, isKnown := kinds[code]
	if !isKnown {
		kind = [2]string{"api_error", "server_error"}
	}
	return problem{status: code, kind: kind[0], code: kind[1], message: "planned failure"}
}

// statusOverloaded is Anthropic's status of an overloaded API.
const statusOverloaded = 529

// RateLimit responds with status 429, and asks the client to wait, in whole seconds.
func RateLimit(pause time.Duration) Fault {
	return Fault{name: "rate limit", before: func(x *exchange) {
		x.writer.Header().Set("Retry-After", strconv.FormatInt(int64(pause/time.Second), 10))
		x.fail(statusProblem(http.StatusTooManyRequests))
	}}
}

// RateLimitDate is RateLimit with the time as an HTTP date.
func RateLimitDate(pause time.Duration) Fault {
	return Fault{name: "rate limit with date", before: func(x *exchange) {
		now := time.Now().UTC().Truncate(time.Second)
		x.writer.Header().Set("Date", now.Format(http.TimeFormat))
		x.writer.Header().Set("Retry-After", now.Add(pause).Format(http.TimeFormat))
		x.fail(statusProblem(http.StatusTooManyRequests))
	}}
}

// InsufficientQuota responds with status 429 and OpenAI's code for an account without credit.
func InsufficientQuota() Fault {
	return Fault{name: "insufficient quota", before: func(x *exchange) {
		broken := statusProblem(http.StatusTooManyRequests)
		broken.code = "insufficient_quota"
		x.fail(broken)
	}}
}

// ContentFilter rejects the request with status 400 and Azure's code for filtered content.
func ContentFilter() Fault {
	return Fault{name: "content filter", before: func(x *exchange) {
		broken := statusProblem(http.StatusBadRequest)
		broken.code = "content_filter"
		x.fail(broken)
	}}
}

// Redirect responds with status 307 and another URL.
func Redirect(url string) Fault {
	return Fault{name: "redirect", before: func(x *exchange) {
		http.Redirect(x.writer, x.http, url, http.StatusTemporaryRedirect)
	}}
}

// Disconnect ends the connection before the response.
func Disconnect() Fault {
	return Fault{name: "disconnect", before: func(*exchange) { panic(http.ErrAbortHandler) }}
}

// Hang never responds.
func Hang() Fault { return Fault{name: "hang", before: (*exchange).hold} }

// EchoRequest responds with status 400, and repeats the request with all its headers in the message and the
// error code.
func EchoRequest() Fault {
	return Fault{name: "echo of the request", before: func(x *exchange) {
		text := fmt.Sprintf("%v %s", x.http.Header, x.body)
		x.fail(problem{status: http.StatusBadRequest, kind: text, code: text, param: text, message: text})
	}}
}

// NotHTTP responds with bytes that are not HTTP and repeat the key. On a connection of HTTP/2, it ends the
// connection.
func NotHTTP() Fault {
	return Fault{name: "not HTTP", before: func(x *exchange) {
		connection, _, err := http.NewResponseController(x.writer).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		_, _ = fmt.Fprintf(connection, "%s\r\n\r\n", x.server.Key())
		_ = connection.Close()
	}}
}

// Stall sends one half of the response and never the rest.
func Stall() Fault {
	return Fault{name: "stall", write: func(x *exchange, body []byte) bool {
		x.half(body)
		x.hold()
		panic("unreachable")
	}}
}

// CutBody ends the connection in the middle of the response.
func CutBody() Fault {
	return Fault{name: "cut body", write: func(x *exchange, body []byte) bool {
		x.half(body)
		panic(http.ErrAbortHandler)
	}}
}

// half sends half of a response, with the whole length.
func (x *exchange) half(body []byte) {
	x.writer.Header().Set("Content-Type", "application/json")
	x.writer.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = x.writer.Write(body[:len(body)/2])
	_ = http.NewResponseController(x.writer).Flush()
}

// SlowBody sends the response in pieces of 16 bytes with pauses between them.
func SlowBody(pause time.Duration) Fault {
	return Fault{name: "slow body", write: func(x *exchange, body []byte) bool {
		x.writer.Header().Set("Content-Type", "application/json")
		if pause > 0 {
			x.announce()
		}
		for len(body) > 0 {
			piece := body[:min(16, len(body))]
			body = body[len(piece):]
			if _, err := x.writer.Write(piece); err != nil {
				return false
			}
			_ = http.NewResponseController(x.writer).Flush()
			select {
			case <-time.After(pause):
			case <-x.http.Context().Done():
				return false
			}
		}
		return true
	}}
}

// EnormousBody sends a valid response of 64 MiB.
func EnormousBody() Fault {
	return Fault{name: "enormous body", write: func(x *exchange, body []byte) bool {
		x.writer.Header().Set("Content-Type", "application/json")
		return pad(x.writer, body, 64)
	}}
}

// pad writes a response with a long field in front of the others.
func pad(w io.Writer, body []byte, mebibytes int) bool {
	if _, err := io.WriteString(w, `{"padding":"`); err != nil {
		return false
	}
	piece := []byte(strings.Repeat("a", 64<<10))
	for range 16 * mebibytes {
		if _, err := w.Write(piece); err != nil {
			return false
		}
	}
	_, err := io.WriteString(w, `",`+string(body[1:]))
	return err == nil
}

// CompressedBody sends a valid response of 4 MiB that is compressed to some KiB.
func CompressedBody() Fault {
	return Fault{name: "compressed body", write: func(x *exchange, body []byte) bool {
		x.writer.Header().Set("Content-Type", "application/json")
		x.writer.Header().Set("Content-Encoding", "gzip")
		compressor := gzip.NewWriter(x.writer)
		pad(compressor, body, 4)
		_ = compressor.Close()
		return false
	}}
}

// MalformedBody sends a response whose JSON is broken.
func MalformedBody() Fault {
	return Fault{name: "malformed body", write: func(x *exchange, body []byte) bool {
		x.send(http.StatusOK, "application/json", append([]byte(`{"usage":,`), body[1:]...))
		return false
	}}
}

// EmptyBody sends a response without a body.
func EmptyBody() Fault {
	return Fault{name: "empty body", write: func(x *exchange, _ []byte) bool {
		x.send(http.StatusOK, "application/json", nil)
		return false
	}}
}

// WrongContentType sends the response as HTML.
func WrongContentType() Fault {
	return Fault{name: "wrong content type", write: func(x *exchange, body []byte) bool {
		x.send(http.StatusOK, "text/html", body)
		return false
	}}
}
