// Package jsonapi asks services over HTTPS that an agent trusts with something: its key, or whom it deals with. It follows no
// redirect, reads no more than it has room for, and tells nobody the service's address beyond its host, nor the key to it.
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
	"strconv"
	"strings"
	"time"
)

// Config says which service is asked, and how.
type Config struct {
	// Endpoint is the service's URL, to which paths are appended. It has to be https, or http to this very machine.
	Endpoint string
	// APIKey is sent as a bearer token; empty for none.
	APIKey string
	// Timeout is how long one attempt may take. Zero is DefaultTimeout.
	Timeout time.Duration
	// HTTPClient sends the requests. Nil is one of the service's own. Its redirect policy is not used.
	HTTPClient *http.Client
}

const (
	// DefaultTimeout is how long one attempt may take.
	DefaultTimeout = 15 * time.Second
	// answerLimit is how long an answer may be, in bytes.
	answerLimit = 64 << 10
	// attempts is how often a request is made that may be repeated.
	attempts = 3
	// firstDelay is how long is waited before the second attempt, and longestDelay how long at most before any.
	firstDelay   = 200 * time.Millisecond
	longestDelay = 5 * time.Second
)

// Service is one that can be asked. Its methods may be called from several goroutines.
type Service struct {
	endpoint url.URL
	client   http.Client
	timeout  time.Duration
	// authorize adds the key. It is a function so that nothing that is printed shows it.
	authorize func(*http.Request)
}

// New makes a service. It asks nothing yet.
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
		return nil, errors.New("the endpoint is not https (http is only for this very machine)")
	}
	return endpoint, nil
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Host is the service's, for errors.
func (s *Service) Host() string { return s.endpoint.Host }

// String is the service's host: neither the rest of its address nor the key to it.
func (s *Service) String() string { return s.Host() }

// ErrRedirect: the service wants somebody else to be asked.
var ErrRedirect = errors.New("it redirects, which is not followed")

// Error is what went wrong when a service was asked.
type Error struct {
	// Host is the service's.
	Host string
	// Status is the HTTP status of its answer; zero if there was none.
	Status int
	// Unsent says that the request has not reached the service.
	Unsent bool
	// Err is why; nil if the status says it.
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

// Refused says whether the service has answered that it does not do what it was asked for.
func (e *Error) Refused() bool { return e.Err == nil && e.Status >= 400 && e.Status < 500 }

// transient says whether the same request may well succeed later.
func (e *Error) transient() bool {
	return e.Unsent || e.Err == nil && (e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable)
}

// Get asks for something, several times if need be, and decodes the JSON that is the answer.
func (s *Service) Get(ctx context.Context, path string, answer any) error {
	return s.repeat(ctx, func(failure *Error) bool { return failure.transient() || failure.Status >= 500 || failure.Status == 0 }, func() *Error {
		return s.attempt(ctx, http.MethodGet, path, nil, "", answer)
	})
}

// Post sends JSON. It is sent again only if it has certainly not been acted on; the key is the same each time, so that a service
// that knows such keys can tell.
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
		return &Error{Host: s.Host(), Unsent: true, Err: errors.New("the request cannot be made")}
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
		return &Error{Host: s.Host(), Status: response.StatusCode, retryAfter: retryAfter(response.Header)}
	}
	if err := decode(response.Body, answer); err != nil {
		return &Error{Host: s.Host(), Status: response.StatusCode, Err: err}
	}
	return nil
}

// failure is why there is no answer, without the request's URL.
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
		return fmt.Errorf("the answer breaks off: %w", err)
	}
	if len(content) > answerLimit {
		return fmt.Errorf("the answer is longer than %d bytes", answerLimit)
	}
	// What the service has answered is no part of the error: it may repeat the key.
	if json.Unmarshal(content, answer) != nil {
		return errors.New("the answer is not the JSON that was asked for")
	}
	return nil
}

func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.ParseUint(header.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
