// Package jsonapi sends HTTPS requests to services that an agent trusts with a key or with the choice of
// counterparties. It follows no redirects, limits the length of responses, and reveals neither the key nor,
// beyond the host, the service's URL in errors and logs.
package jsonapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/sdk/internal/retryafter"
)

// Config identifies the service and sets the limits of requests.
type Config struct {
	// Endpoint is the service's URL; paths are appended to it. The scheme must be https, or http for the
	// local machine.
	Endpoint string
	// APIKey is sent as a bearer token; empty for none.
	APIKey string
	// Timeout limits one attempt. If zero, DefaultTimeout is used.
	Timeout time.Duration
	// HTTPClient sends the requests. If nil, the service creates it. The redirect policy is not used.
	HTTPClient *http.Client
}

const (
	// DefaultTimeout limits one attempt.
	DefaultTimeout = 15 * time.Second
	// answerLimit is the largest accepted response in bytes.
	answerLimit = 64 << 10
	// attempts limits how often a repeatable request is sent.
	attempts = 3
	// firstDelay is the pause before the second attempt, longestDelay the longest pause.
	firstDelay   = 200 * time.Millisecond
	longestDelay = 5 * time.Second
)

// Service sends requests to a service. It is safe for concurrent use.
type Service struct {
	endpoint url.URL
	client   http.Client
	timeout  time.Duration
	// authorize adds the key. It is a function so that printing the struct does not show the key.
	authorize func(*http.Request)
}

// New returns a service. It sends no requests.
func New(config Config) (*Service, error) {
	endpoint, err := parseEndpoint(config.Endpoint)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(config.APIKey, "\r\n") {
		return nil, errors.New("the API key has more than one line")
	}
	s := &Service{endpoint: *endpoint, timeout: config.Timeout, authorize: func(*http.Request) {}}
	if s.timeout <= 0 {
		s.timeout = DefaultTimeout
	}
	if config.HTTPClient != nil {
		s.client = *config.HTTPClient
	}
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return ErrRedirect }
	if key := config.APIKey; key != "" {
		s.authorize = func(request *http.Request) { request.Header.Set("Authorization", "Bearer "+key) }
	}
	return s, nil
}

func parseEndpoint(text string) (*url.URL, error) {
	// No error quotes an endpoint: it may contain a key.
	endpoint, err := url.Parse(text)
	if err != nil || endpoint.Hostname() == "" {
		return nil, errors.New("the endpoint is not a URL with a host")
	}
	if endpoint.User != nil || endpoint.RawQuery != "" || endpoint.Fragment != "" {
		return nil, errors.New("the endpoint has more than a scheme, a host and a path")
	}
	if endpoint.Scheme != "https" && (endpoint.Scheme != "http" || !isLoopback(endpoint.Hostname())) {
		return nil, errors.New("the endpoint is not https (http is only for the local machine)")
	}
	return endpoint, nil
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Host returns the service's host, for errors.
func (s *Service) Host() string { return s.endpoint.Host }

// String returns the service's host, without the rest of the URL and the key.
func (s *Service) String() string { return s.Host() }

// ErrRedirect: the service redirects to another URL.
var ErrRedirect = errors.New("redirects are not followed")

// Error is a failed request to a service.
type Error struct {
	// Host is the service's host.
	Host string
	// Status is the HTTP status of the response; zero if there was none.
	Status int
	// Unsent reports whether the request has certainly not reached the service.
	Unsent bool
	// Err is the reason; nil if Status is.
	Err error

	retryAfter time.Duration
}

func (e *Error) Error() string {
	switch {
	case e.Err != nil:
		return fmt.Sprintf("%s: %v", e.Host, e.Err)
	default:
		return fmt.Sprintf("%s answers with status %d %s", e.Host, e.Status, http.StatusText(e.Status))
	}
}

func (e *Error) Unwrap() error { return e.Err }

// Refused reports whether the service rejected the request.
func (e *Error) Refused() bool { return e.Err == nil && e.Status >= 400 && e.Status < 500 }

// transient reports whether the same request may succeed later.
func (e *Error) transient() bool {
	return e.Unsent || e.Err == nil && (e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable)
}

// Get sends a GET request, repeats it after transient errors, and decodes the response's JSON.
func (s *Service) Get(ctx context.Context, path string, answer any) error {
	return s.repeat(ctx, func(failure *Error) bool { return failure.transient() || failure.Status >= 500 || failure.Status == 0 }, func() *Error {
		return s.attempt(ctx, http.MethodGet, path, nil, "", answer)
	})
}

// Post sends JSON. It repeats the request only if the service has certainly not acted on it, with the same
// idempotency key, so that a service that supports such keys detects the repetition.
func (s *Service) Post(ctx context.Context, path, idempotencyKey string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return &Error{Host: s.Host(), Unsent: true, Err: err}
	}
	return s.repeat(ctx, (*Error).transient, func() *Error {
		return s.attempt(ctx, http.MethodPost, path, body, idempotencyKey, answer)
	})
}

func (s *Service) repeat(ctx context.Context, again func(*Error) bool, attempt func() *Error) error {
	delay := firstDelay
	for n := 1; ; n++ {
		failure := attempt()
		if failure == nil {
			return nil
		}
		if n == attempts || !again(failure) || ctx.Err() != nil || errors.Is(failure, ErrRedirect) {
			return failure
		}
		wait := max(delay/2+rand.N(delay/2), failure.retryAfter)
		if wait > longestDelay {
			return failure
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return failure
		case <-timer.C:
		}
		delay = min(2*delay, longestDelay)
	}
}

func (s *Service) attempt(ctx context.Context, method, path string, body []byte, idempotencyKey string, answer any) *Error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.endpoint.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return &Error{Host: s.Host(), Unsent: true, Err: errors.New("invalid request")}
	}
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", idempotencyKey)
	}
	s.authorize(request)
	response, err := s.client.Do(request)
	if err != nil {
		return s.failure(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return &Error{Host: s.Host(), Status: response.StatusCode, retryAfter: retryafter.Pause(response.Header, retryafter.Longest)}
	}
	if err := decode(response.Body, answer); err != nil {
		return &Error{Host: s.Host(), Status: response.StatusCode, Err: err}
	}
	return nil
}

// failure returns a request's error without the URL.
func (s *Service) failure(err error) *Error {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	var dial *net.OpError
	return &Error{Host: s.Host(), Unsent: errors.As(err, &dial) && dial.Op == "dial", Err: err}
}

func decode(body io.Reader, answer any) error {
	content, err := io.ReadAll(io.LimitReader(body, answerLimit+1))
	if err != nil {
		return fmt.Errorf("the answer is truncated: %w", err)
	}
	if len(content) > answerLimit {
		return fmt.Errorf("the answer is longer than %d bytes", answerLimit)
	}
	// The error does not contain the service's response, which may repeat the key.
	if json.Unmarshal(content, answer) != nil {
		return errors.New("the answer is not the expected JSON")
	}
	return nil
}
