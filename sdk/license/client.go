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
	// HTTP sends all requests. The Transport adds credentials: a BearerTransport or a Transport of package
	// httpsig. If nil, the client is anonymous.
	HTTP *http.Client
	// Gateway is another protocol than REST. If set, the fields above are not used.
	Gateway Gateway
	// Attempts is how often a request is attempted on transient errors: network errors, 409 "Negotiation in
	// progress", 401 for a replayed signature, 500 from the gateway, 502, 503, 504. If zero, 5 is used.
	Attempts int
}

const (
	defaultAttempts = 5
	// firstDelay is the pause before the second attempt, longestDelay the longest pause.
	firstDelay   = 200 * time.Millisecond
	longestDelay = 5 * time.Second
)

// Client is a gateway client. It is safe for concurrent use.
type Client struct {
	gateway  Gateway
	attempts int
}

// NewClient returns a client. It sends no request. It returns an error for an invalid URL.
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

// repeated sends a request until success, permanent failure, or the attempts are used up. All state-changing
// requests carry an idempotency key, so repetition changes nothing twice.
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

// isTransient reports whether the same request can succeed soon. Other than gateway errors, there are network
// errors and unreadable responses.
func isTransient(err error) bool {
	var known *Problem
	if errors.As(err, &known) {
		return known.transient()
	}
	return !errors.As(err, new(*permanent))
}

func keyOr(key string) string { return cmp.Or(key, rand.Text()) }

// Propose opens a negotiation, and returns the publisher's answer. A publisher whose language model words the answer
// needs some time: Propose reads the negotiation until the answer is there, after the pauses that the gateway names.
// If that fails or ctx ends before, it returns the answer [ActionPending] with the negotiation, and the error; a
// repetition with the same idempotency key continues to wait. Errors match [ErrLimited], [ErrNotFound] for an unknown
// publisher, and [ErrClosed].
func (c *Client) Propose(ctx context.Context, p Proposal) (Answer, error) {
	p.IdempotencyKey = keyOr(p.IdempotencyKey)
	return c.answered(ctx, func() (Answer, error) { return c.gateway.Propose(ctx, p) })
}

// Counter sends a further proposal, and returns the publisher's answer, for which it waits as [Client.Propose] does.
// Errors match [ErrNotFound], [ErrEnded], and [ErrPending] if an earlier proposal has no answer yet.
func (c *Client) Counter(ctx context.Context, o CounterOffer) (Answer, error) {
	o.IdempotencyKey = keyOr(o.IdempotencyKey)
	return c.answered(ctx, func() (Answer, error) { return c.gateway.Counter(ctx, o) })
}

// Accept accepts the publisher's newest offer. The action of the answer is [ActionAccept], or [ActionApprove]
// if the publisher must approve. Errors match [ErrNotFound], [ErrEnded] and [ErrOfferChanged].
func (c *Client) Accept(ctx context.Context, a Acceptance) (Answer, error) {
	a.IdempotencyKey = keyOr(a.IdempotencyKey)
	return repeated(ctx, c, func() (Answer, error) { return c.gateway.Accept(ctx, a) })
}

// Leave ends an open negotiation with no agreement, to free a slot among the publisher's open negotiations.
// The answer's action is [ActionReject]. Errors match [ErrNotFound], and [ErrEnded] if the negotiation is
// over or awaits approval.
func (c *Client) Leave(ctx context.Context, d Departure) (Answer, error) {
	d.IdempotencyKey = keyOr(d.IdempotencyKey)
	return repeated(ctx, c, func() (Answer, error) { return c.gateway.Leave(ctx, d) })
}

// Status returns one of the client's negotiations, including the history.
func (c *Client) Status(ctx context.Context, negotiation string) (Details, error) {
	return repeated(ctx, c, func() (Details, error) { return c.gateway.Status(ctx, negotiation) })
}

// Strategy returns public facts about a publisher's strategy. Errors match [ErrNotFound], and [ErrClosed] if
// no publisher strategy applies now.
func (c *Client) Strategy(ctx context.Context, hostname string) (PublicStrategy, error) {
	return repeated(ctx, c, func() (PublicStrategy, error) { return c.gateway.Strategy(ctx, hostname) })
}

// License returns an accepted negotiation's license. Errors match [ErrEnded] if the negotiation is not
// accepted, and [ErrUnnamed] for anonymous clients.
func (c *Client) License(ctx context.Context, negotiation string) (License, error) {
	return repeated(ctx, c, func() (License, error) { return c.gateway.License(ctx, negotiation) })
}

// Publishers lists the publishers that accept proposals, the newest first. The list ends on error.
func (c *Client) Publishers(ctx context.Context) iter.Seq2[Publisher, error] {
	return pages(ctx, c, c.gateway.Publishers)
}

// Licenses lists the client's licenses, the newest first. The list ends on error. Over REST it needs
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
