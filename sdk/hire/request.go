package hire

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/haggle-protocol/haggle/sdk/httpsig"
	"github.com/haggle-protocol/haggle/sdk/internal/retryafter"
)

const (
	// requestLimit limits one request.
	requestLimit = 10 * time.Second
	// maxRetryAfter limits the pause demanded by servers.
	maxRetryAfter = time.Minute
	jsonType      = "application/json"
)

// request is an HTTP request, and the response that it requires.
type request struct {
	// to names the receiver in errors.
	to          string
	method, url string
	// body is sent as bodyType. If bodyType is empty, no body is sent.
	body     []byte
	bodyType string
	// status and accept specify the required status and content type. If accept is empty, once returns no
	// body, and otherwise at most limit bytes.
	status int
	accept string
	limit  int64
	// lastEvent is sent as Last-Event-ID, if set.
	lastEvent string
	// missing is returned after status 404. If nil, the response contains the reason.
	missing error
	// key signs the request, if set.
	key ed25519.PrivateKey
	// time limits one attempt.
	time time.Duration
}

// transient is an error for requests that can succeed later.
type transient struct {
	err error
	// after holds the pause demanded by the server.
	after time.Duration
}

func (t *transient) Error() string { return t.err.Error() }

func (t *transient) Unwrap() error { return t.err }

// open sends a request and returns the required response, to be closed by the caller. The error is a [*Refusal] with
// the server's reason, a *transient, or permanent.
func (c *Client) open(ctx context.Context, r request) (*http.Response, error) {
	sent, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return nil, fmt.Errorf("hire: %s: %w", r.to, err)
	}
	if r.bodyType != "" {
		sent.Header.Set("Content-Type", r.bodyType)
	}
	if r.accept != "" {
		sent.Header.Set("Accept", r.accept)
	}
	if r.lastEvent != "" {
		sent.Header.Set("Last-Event-ID", r.lastEvent)
	}
	if len(r.body) > MaxSize {
		sent.Header.Set("Expect", "100-continue") // the server can refuse a delivery early
	}
	response, err := c.signing(r.key).Do(sent)
	if err != nil {
		err = fmt.Errorf("hire: %s: %w", r.to, err)
		if !errors.Is(err, errNotPublic) && !errors.Is(err, errRedirect) {
			err = &transient{err: err}
		}
		return nil, err
	}
	status := response.StatusCode
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case status == r.status && (r.accept == "" || kind == r.accept):
		return response, nil
	case status == r.status:
		err = fmt.Errorf("hire: %s: response of another type than %s", r.to, r.accept)
	case status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		err = &transient{fmt.Errorf("hire: %s: status %d", r.to, status), retryafter.Pause(response.Header, maxRetryAfter)}
	case status == http.StatusNotFound && r.missing != nil:
		err = r.missing
	default:
		err = refusalIn(response, r.to)
	}
	_ = response.Body.Close()
	return nil, err
}

// signing returns a client that signs with a key, if there is one.
func (c *Client) signing(key ed25519.PrivateKey) *http.Client {
	client := *c.http()
	if key != nil {
		client.Transport = &httpsig.Transport{Key: key, Base: client.Transport}
	}
	return &client
}

// refusalIn returns the refusal in a response. The text is this package's: the server's would be untrusted.
func refusalIn(response *http.Response, to string) error {
	var document refusalDocument
	data, err := io.ReadAll(io.LimitReader(response.Body, MaxSize))
	if err == nil && json.Unmarshal(data, &document) == nil && slices.Contains(Reasons(), document.Reason) {
		return refuse(document.Reason, "%s: refused", to)
	}
	return fmt.Errorf("hire: %s: status %d without a reason", to, response.StatusCode)
}

// once sends a request and returns the response body.
func (c *Client) once(ctx context.Context, r request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, r.time)
	defer cancel()
	response, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if r.accept == "" {
		return nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, r.limit+1))
	switch {
	case err != nil:
		return nil, &transient{err: fmt.Errorf("hire: %s: %w", r.to, err)}
	case int64(len(data)) > r.limit:
		return nil, fmt.Errorf("hire: %s: response longer than %d bytes", r.to, r.limit)
	}
	return data, nil
}

// repeat sends a request as [retry] does.
func (c *Client) repeat(ctx context.Context, r request) ([]byte, error) {
	return retry(ctx, func() ([]byte, error) { return c.once(ctx, r) })
}

// retry calls a function, with growing pauses after transient errors, until the context ends.
func retry[T any](ctx context.Context, attempt func() (T, error)) (T, error) {
	var last error
	result, err := backoff.Retry(ctx, func() (T, error) {
		result, err := attempt()
		if ctx.Err() == nil {
			last = err
		}
		var again *transient
		switch {
		case err == nil:
			return result, nil
		case !errors.As(err, &again):
			return result, backoff.Permanent(err)
		case again.after > 0:
			return result, &backoff.RetryAfterError{Duration: again.after}
		}
		return result, err
	}, backoff.WithBackOff(pauses()), backoff.WithMaxElapsedTime(0))
	if err != nil && last != nil && !errors.Is(last, err) {
		err = fmt.Errorf("%w (%v)", err, last)
	}
	return result, err
}

// pauses returns the pauses between attempts.
func pauses() *backoff.ExponentialBackOff {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = 200*time.Millisecond, 15*time.Second
	return pauses
}
