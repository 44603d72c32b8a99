package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Error is the reason for rejecting a caller. It contains no secrets.
type Error struct {
	// Status is an HTTP status: 401, 403, 413, 429 or 503.
	Status int
	// Code identifies the reason, such as "signature-expired".
	Code string
	// Detail explains the error to people.
	Detail string

	cause error
}

// Error returns the detail.
func (e *Error) Error() string { return e.Detail }

// Unwrap returns the cause, which is not sent to the caller.
func (e *Error) Unwrap() error { return e.cause }

// CodeSuspended means that the client is suspended.
const CodeSuspended = "client-suspended"

// suspended returns the error if a client was suspended; nil if since is zero.
func suspended(client int64, since time.Time) error {
	if since.IsZero() {
		return nil
	}
	return &Error{
		Status: http.StatusForbidden, Code: CodeSuspended,
		Detail: fmt.Sprintf("client %d: suspended since %s; ask the gateway's operator", client,
			since.UTC().Format(time.RFC3339)),
	}
}

func unauthenticated(code, format string, arguments ...any) *Error {
	return &Error{Status: http.StatusUnauthorized, Code: code, Detail: fmt.Sprintf(format, arguments...)}
}

func denied(format string, arguments ...any) *Error {
	detail := fmt.Sprintf(format, arguments...)
	return &Error{Status: http.StatusForbidden, Code: "scope-missing", Detail: detail}
}

func unavailable(cause error) *Error {
	return &Error{
		Status: http.StatusServiceUnavailable, Code: "identity-unavailable",
		Detail: "identity: the credentials cannot be checked now; repeat the request later", cause: cause,
	}
}

// Problem is an error body (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// Problem returns the body of the error.
func (e *Error) Problem() Problem {
	return Problem{
		Type: "urn:haggle:problem:" + e.Code, Title: http.StatusText(e.Status),
		Status: e.Status, Detail: e.Detail,
	}
}

// WriteProblem writes an error of this package as application/problem+json. Other errors get the status 503
// and no detail.
func WriteProblem(w http.ResponseWriter, err error) {
	var problem *Error
	if !errors.As(err, &problem) {
		problem = unavailable(err)
	}
	body, err := json.Marshal(problem.Problem())
	if err != nil {
		panic(err) // Strings and an integer always have an encoding.
	}
	header := w.Header()
	header.Set("Content-Type", "application/problem+json")
	header.Set("Cache-Control", "no-store")
	switch problem.Status {
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", `Bearer realm="haggle"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set("Retry-After", "10")
	}
	w.WriteHeader(problem.Status)
	_, _ = w.Write(body)
}
