package license

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/sdk/internal/retryafter"
)

// Problem is an error that the gateway returned (RFC 9457).
type Problem struct {
	// Code names the problem, such as "offer-changed".
	Code string
	// Status is the HTTP status; 0 over MCP.
	Status int
	Detail string
	// Field is the path of the invalid request field, if the gateway names it.
	Field string
	// RetryAfter is how long to wait until the same request can succeed, if the gateway names it.
	RetryAfter time.Duration
}

// Error returns the detail, and how long to wait until the request can succeed.
func (p *Problem) Error() string {
	text := "gateway: " + p.Detail
	if p.RetryAfter > 0 {
		text += fmt.Sprintf(" (retry after %s)", p.RetryAfter)
	}
	return text
}

// Errors matched by [Problem] with [errors.Is].
var (
	// ErrLimited: too many negotiations. [Problem.RetryAfter] contains the time to wait.
	ErrLimited = errors.New("limit of negotiations reached")
	// ErrInProgress: another request changes the negotiation.
	ErrInProgress = errors.New("negotiation in progress")
	// ErrPending: the publisher has not answered the last proposal yet.
	ErrPending = errors.New("publisher's answer pending")
	// ErrOfferChanged: the accepted round contains a different offer.
	ErrOfferChanged = errors.New("offer changed")
	// ErrEnded: the status of the negotiation does not permit the request.
	ErrEnded = errors.New("negotiation over, or awaiting approval")
	// ErrClosed: the publisher takes no proposals now.
	ErrClosed = errors.New("publisher closed")
	// ErrNotFound: the object does not exist, or belongs to another client.
	ErrNotFound = errors.New("not found")
	// ErrForbidden: the client lacks the permission.
	ErrForbidden = errors.New("forbidden")
	// ErrUnnamed: anonymous clients receive no license.
	ErrUnnamed = errors.New("client is anonymous")
	// ErrKeyReused: the idempotency key belongs to another request.
	ErrKeyReused = errors.New("idempotency key reused")
)

// Is reports whether the problem matches a sentinel error in this package.
func (p *Problem) Is(target error) bool {
	switch target {
	case ErrLimited:
		return p.Status == http.StatusTooManyRequests || strings.HasPrefix(p.Code, "limit-")
	case ErrInProgress:
		return p.Code == "negotiation-in-progress"
	case ErrPending:
		return p.Code == "answer-pending"
	case ErrOfferChanged:
		return p.Code == "offer-changed"
	case ErrEnded:
		return p.Code == "negotiation-status"
	case ErrClosed:
		return p.Code == "publisher-closed"
	case ErrNotFound:
		return p.Code == "not_found"
	case ErrForbidden:
		return p.Status == http.StatusForbidden || p.Code == "scope-missing"
	case ErrUnnamed:
		return p.Code == "unnamed-client" || p.Code == "credentials-missing"
	case ErrKeyReused:
		return p.Code == "idempotency-key-reused"
	}
	return false
}

// transient reports whether the same request can succeed soon.
func (p *Problem) transient() bool {
	switch p.Status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	switch p.Code {
	case "negotiation-in-progress", "internal":
		return true
	case "signature-replayed":
		// http.Transport sent the same signed GET twice. The next attempt uses a new signature.
		return true
	}
	return false
}

// problemType begins the types of the gateway's problems.
const problemType = "urn:haggle:problem:"

// problemOf returns the problem in an error response.
func problemOf(response *http.Response, body []byte) *Problem {
	var document struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Errors []struct {
			Location string `json:"location"`
			Message  string `json:"message"`
		} `json:"errors"`
	}
	// A proxy in front of the gateway can respond with another document: then only the status is known.
	_ = json.Unmarshal(body, &document)
	p := &Problem{
		Code: strings.TrimPrefix(document.Type, problemType), Status: response.StatusCode,
		Detail: cmp.Or(document.Detail, response.Status),
	}
	for at, invalid := range document.Errors {
		if at == 0 {
			p.Field = invalid.Location
		}
		if !strings.Contains(p.Detail, invalid.Message) {
			p.Detail += "; " + invalid.Location + ": " + invalid.Message
		}
	}
	p.RetryAfter = retryafter.Pause(response.Header, retryafter.Longest)
	return p
}
