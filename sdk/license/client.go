package license

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

// Config configures a [Client].
type Config struct {
	// BaseURL is the URL of the negotiation API, such as "https://gateway.example". It is required without
	// Gateway.
	BaseURL string
	// LicensingURL is the URL of the licensing API. Only [Client.Licenses] needs it.
	LicensingURL string
	// HTTP sends the requests. Its Transport has the credentials: a BearerTransport or a Transport of
	// package httpsig. If nil, the client is anonymous.
	HTTP *http.Client
	// Gateway is another protocol than REST. If set, the fields above are not used.
	Gateway Gateway
	// Attempts is the number of attempts of a request that fails with a transient error: the network's, 409
	// "Negotiation in progress", 401 for a signature that was sent twice, 500 of the gateway, 502, 503, 504. If
	// zero, 5 is used.
	Attempts int
}

const (
	defaultAttempts = 5
	// firstDelay is the pause before the second attempt, longestDelay the longest pause.
	firstDelay   = 200 * time.Millisecond
	longestDelay = 5 * time.Second
)

// Client is a client of a gateway. Several goroutines can use it.
type Client struct {
	gateway  Gateway
	attempts int
}

// NewClient returns a client. It sends no requests. It returns an error for an invalid URL.
func NewClient(config Config) (*Client, error) {
	c := &Client{gateway: config.Gateway, attempts: config.Attempts}
	if c.attempts <= 0 {
		c.attempts = defaultAttempts
	}
	if c.gateway == nil {
		r, err := newREST(config)
		if err != nil {
			return nil, err
		}
		c.gateway = r
	}
	return c, nil
}

// repeated sends a request until it succeeds, fails permanently, or the attempts are used up. All requests
// that change something have an idempotency key, so a repetition changes nothing twice.
func repeated[T any](ctx context.Context, c *Client, send func() (T, error)) (T, error) {
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval, delays.MaxInterval = firstDelay, longestDelay
	for attempt := 1; ; attempt++ {
		answer, err := send()
		if err == nil || attempt == c.attempts || ctx.Err() != nil || !isTransient(err) {
			return answer, err
		}
		delay := delays.NextBackOff()
		var known *Problem
		if errors.As(err, &known) && known.RetryAfter > 0 {
			delay = min(known.RetryAfter, longestDelay)
		}
		if stopped := wait.For(ctx, delay); stopped != nil {
			return answer, stopped
		}
	}
}

// isTransient reports whether the same request can succeed soon. Errors that are not the gateway's are the
// network's or those of an unreadable response.
func isTransient(err error) bool {
	var known *Problem
	if errors.As(err, &known) {
		return known.transient()
	}
	return !errors.As(err, new(*permanent))
}

func keyOr(key string) string { return cmp.Or(key, rand.Text()) }

// Propose opens a negotiation, which the publisher answers at once. Errors match [ErrLimited], [ErrNotFound]
// for an unknown publisher, and [ErrClosed].
func (c *Client) Propose(ctx context.Context, p Proposal) (Answer, error) {
	p.IdempotencyKey = keyOr(p.IdempotencyKey)
	return repeated(ctx, c, func() (Answer, error) { return c.gateway.Propose(ctx, p) })
}

// Counter sends a further proposal, which the publisher answers at once. Errors match [ErrNotFound] and
// [ErrEnded].
func (c *Client) Counter(ctx context.Context, o CounterOffer) (Answer, error) {
	o.IdempotencyKey = keyOr(o.IdempotencyKey)
	return repeated(ctx, c, func() (Answer, error) { return c.gateway.Counter(ctx, o) })
}

// Accept accepts the publisher's newest offer. The action of the answer is [ActionAccept], or [ActionApprove]
// if the publisher must approve. Errors match [ErrNotFound], [ErrEnded] and [ErrOfferChanged].
func (c *Client) Accept(ctx context.Context, a Acceptance) (Answer, error) {
	a.IdempotencyKey = keyOr(a.IdempotencyKey)
	return repeated(ctx, c, func() (Answer, error) { return c.gateway.Accept(ctx, a) })
}

// Leave ends an open negotiation without an agreement, so that its place among the publisher's open ones is
// free. The action of the answer is [ActionReject]. Errors match [ErrNotFound], and [ErrEnded] for a
// negotiation that is over or awaits approval.
func (c *Client) Leave(ctx context.Context, d Departure) (Answer, error) {
	d.IdempotencyKey = keyOr(d.IdempotencyKey)
	return repeated(ctx, c, func() (Answer, error) { return c.gateway.Leave(ctx, d) })
}

// Status returns a negotiation of the client with its history.
func (c *Client) Status(ctx context.Context, negotiation string) (Details, error) {
	return repeated(ctx, c, func() (Details, error) { return c.gateway.Status(ctx, negotiation) })
}

// Strategy returns the public facts of a publisher's strategy. Errors match [ErrNotFound], and [ErrClosed]
// if no strategy of the publisher applies now.
func (c *Client) Strategy(ctx context.Context, hostname string) (PublicStrategy, error) {
	return repeated(ctx, c, func() (PublicStrategy, error) { return c.gateway.Strategy(ctx, hostname) })
}

// License returns the licence of an accepted negotiation. Errors match [ErrEnded] for a negotiation that is
// not accepted, and [ErrUnnamed] for an anonymous client.
func (c *Client) License(ctx context.Context, negotiation string) (License, error) {
	return repeated(ctx, c, func() (License, error) { return c.gateway.License(ctx, negotiation) })
}

// Publishers lists the publishers that accept proposals, the newest first. After an error the list ends.
func (c *Client) Publishers(ctx context.Context) iter.Seq2[Publisher, error] {
	return pages(ctx, c, c.gateway.Publishers)
}

// Licenses lists the client's licences, the newest first. After an error the list ends. Over REST it needs
// [Config.LicensingURL].
func (c *Client) Licenses(ctx context.Context) iter.Seq2[License, error] {
	return pages(ctx, c, c.gateway.Licenses)
}

func pages[T any](
	ctx context.Context, c *Client, read func(context.Context, string) (Page[T], error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor := ""; ; {
			page, err := repeated(ctx, c, func() (Page[T], error) { return read(ctx, cursor) })
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if page.NextCursor == "" || page.NextCursor == cursor {
				return
			}
			cursor = page.NextCursor
		}
	}
}
