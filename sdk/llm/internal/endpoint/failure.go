package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/haggle-protocol/haggle/sdk/internal/retryafter"
)

// Failure describes a failed request.
type Failure struct {
	// Temporary reports whether a later request may succeed.
	Temporary bool
	// Status is the HTTP status; 0 if there was no response.
	Status int
	// RetryAfter is the pause that the API asks for; 0 if it has not asked.
	RetryAfter time.Duration
	// Err contains no text of the request or the response.
	Err error
}

// Describe returns the failure that a vendor's SDK reports by err. response is nil if there was none. code is
// the API's error code, which is shown if it is a known one.
func Describe(host string, response *http.Response, err error, code string) Failure {
	if response != nil && response.StatusCode >= http.StatusBadRequest {
		return statusFailure(response, code)
	}
	status := 0
	if response != nil {
		status = response.StatusCode
	}
	var network *networkError
	switch {
	case errors.Is(err, errTooLong), errors.Is(err, errRedirect):
		return Failure{Status: status, Err: fmt.Errorf("%s: %w", host, plain(err))}
	case errors.As(err, &network):
		return networkFailure(host, status, network.err)
	case errors.Is(err, context.DeadlineExceeded):
		return Failure{Temporary: true, Status: status, Err: fmt.Errorf("%s: request timed out", host)}
	case errors.Is(err, io.ErrUnexpectedEOF) && response != nil:
		return Failure{Temporary: true, Status: status, Err: fmt.Errorf("%s: response was cut off", host)}
	case response != nil:
		return Failure{Status: status, Err: fmt.Errorf("%s: response is not the API's JSON", host)}
	}
	return Failure{Err: fmt.Errorf("%s: request could not be sent", host)}
}

// plain returns the error of this package that err wraps.
func plain(err error) error {
	if errors.Is(err, errRedirect) {
		return errRedirect
	}
	return errTooLong
}

func statusFailure(response *http.Response, code string) Failure {
	status := response.StatusCode
	text := http.StatusText(status)
	if text == "" {
		text = "no standard status"
	}
	if knownCodes[code] {
		text += " (" + code + ")"
	}
	temporary := status == http.StatusRequestTimeout || status == http.StatusConflict ||
		status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
	if !temporary {
		text = fmt.Sprintf("HTTP status %d: %s", status, text)
	}
	return Failure{
		Temporary: temporary, Status: status, RetryAfter: retryAfter(response.Header), Err: errors.New(text),
	}
}

// knownCodes are the documented error codes. Others are untrusted text and are not shown.
var knownCodes = map[string]bool{
	// OpenAI and Azure
	"invalid_api_key": true, "insufficient_quota": true, "rate_limit_exceeded": true, "model_not_found": true,
	"context_length_exceeded": true, "unsupported_parameter": true, "unknown_parameter": true,
	"invalid_json_schema": true, "unsupported_value": true, "billing_hard_limit_reached": true,
	"server_error": true, "invalid_prompt": true, "DeploymentNotFound": true,
	// Anthropic
	"authentication_error": true, "billing_error": true, "permission_error": true, "not_found_error": true,
	"invalid_request_error": true, "request_too_large": true, "rate_limit_error": true, "timeout_error": true,
	"overloaded_error": true, "api_error": true,
}

// networkFailure describes errors by their kind: their texts can contain bytes of the response.
func networkFailure(host string, status int, err error) Failure {
	var (
		certificate *tls.CertificateVerificationError
		name        *net.DNSError
		number      syscall.Errno
		timeout     net.Error
	)
	switch {
	case errors.As(err, &certificate):
		// A later request fails in the same way.
		return Failure{Err: fmt.Errorf("%s: TLS certificate not trusted", host)}
	case errors.As(err, &name):
		err = errors.New("host name not resolved")
	case errors.As(err, &number):
		err = number
	case errors.As(err, &timeout) && timeout.Timeout():
		err = errors.New("request timed out")
	case status != 0:
		err = errors.New("response was cut off")
	default:
		err = errors.New("connection closed or not HTTP")
	}
	return Failure{Temporary: true, Status: status, Err: fmt.Errorf("%s: %w", host, err)}
}

// retryAfter returns the pause before the next request. Services of language models also send milliseconds, and
// fractions of seconds.
func retryAfter(header http.Header) time.Duration {
	if pause, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		return boundedPause(pause / 1000)
	}
	if pause, err := strconv.ParseFloat(header.Get("Retry-After"), 64); err == nil {
		return boundedPause(pause)
	}
	return retryafter.Pause(header, retryafter.Longest)
}

func boundedPause(seconds float64) time.Duration {
	if math.IsNaN(seconds) || seconds <= 0 {
		return 0
	}
	if seconds >= retryafter.Longest.Seconds() {
		return retryafter.Longest
	}
	return time.Duration(seconds * float64(time.Second))
}
