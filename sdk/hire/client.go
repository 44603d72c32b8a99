package hire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// requestLimit is the time for one request.
const requestLimit = 10 * time.Second

// Client sends requests to other agents. The zero value connects to public addresses only. Its methods may be
// called from several goroutines.
type Client struct {
	// Local also permits loopback, private and other addresses that are not public: for tests, and for agents of
	// one network. A stranger's id then makes this process send requests into that network.
	Local bool
	// Transport has the certificates to trust, and with Local the proxy. If nil, http.DefaultTransport's are used.
	Transport *http.Transport

	once   sync.Once
	client *http.Client
}

// Card fetches the card of an origin: at most 64 KiB in 10 seconds, without redirects. It returns a [*Refusal] for
// a card that [ParseCard] refuses, and another error if the origin does not respond with a card.
func (c *Client) Card(ctx context.Context, origin string) (*Card, error) {
	if err := CheckOrigin(origin); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+CardPath, nil)
	if err != nil {
		return nil, fmt.Errorf("hire: card: %w", err)
	}
	request.Header.Set("Accept", "application/json")
	response, err := c.http().Do(request)
	if err != nil {
		return nil, fmt.Errorf("hire: card: %w", err)
	}
	defer response.Body.Close()
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode != http.StatusOK || kind != "application/json" {
		return nil, fmt.Errorf("hire: card of %s: status %d instead of 200 with application/json", origin, response.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("hire: card of %s: %w", origin, err)
	}
	return ParseCard(data, origin)
}

// Send delivers a message to an inbox. It repeats the request with growing pauses until the inbox has accepted or
// refused the message, or the context ends: give the context the time after which the message is of no use. A
// message that arrives twice counts once. The error is a [*Refusal] with the inbox's reason; after any other error
// the message may have arrived.
func (c *Client) Send(ctx context.Context, inbox string, m *Message) error {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = 200*time.Millisecond, 15*time.Second
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, c.sendOnce(ctx, inbox, m) },
		backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0))
	return err
}

// mostRetryAfter limits the pause that an inbox can demand.
const mostRetryAfter = 60

func (c *Client) sendOnce(ctx context.Context, inbox string, m *Message) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, inbox, bytes.NewReader(m.text))
	if err != nil {
		return backoff.Permanent(fmt.Errorf("hire: inbox: %w", err))
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http().Do(request)
	if err != nil {
		if err = fmt.Errorf("hire: inbox: %w", err); errors.Is(err, errNotPublic) {
			err = backoff.Permanent(err)
		}
		return err
	}
	defer response.Body.Close()
	switch status := response.StatusCode; {
	case status == http.StatusAccepted:
		return nil
	case status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
			return backoff.RetryAfter(min(seconds, mostRetryAfter))
		}
		return fmt.Errorf("hire: inbox of %s: status %d", m.to, status)
	}
	return backoff.Permanent(refusalIn(response, m))
}

// refusalIn returns the refusal of an inbox. The text is this package's: the peer's would be untrusted.
func refusalIn(response *http.Response, m *Message) error {
	var document refusalDocument
	data, err := io.ReadAll(io.LimitReader(response.Body, MaxSize))
	if err == nil && json.Unmarshal(data, &document) == nil && slices.Contains(Reasons(), document.Reason) {
		return refuse(document.Reason, "refused by the recipient of the %s", m.payload.Type())
	}
	return fmt.Errorf("hire: inbox of %s: status %d without a reason", m.to, response.StatusCode)
}

// errNotPublic: a name resolves to an address of this machine or of a private network.
var errNotPublic = errors.New("the address is not public")

func (c *Client) http() *http.Client {
	c.once.Do(func() {
		base := c.Transport
		if base == nil {
			base, _ = http.DefaultTransport.(*http.Transport)
		}
		transport := base.Clone()
		if !c.Local {
			// The check is about the address of the connection, after the name has been resolved. A proxy would
			// resolve it elsewhere.
			transport.Proxy = nil
			transport.DialContext = (&net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
				to, err := netip.ParseAddrPort(address)
				if err != nil || !isPublic(to.Addr().Unmap()) {
					return errNotPublic
				}
				return nil
			}}).DialContext
		}
		c.client = &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
		}
	})
	return c.client
}

var errRedirect = errors.New("redirects are not followed")

// Close closes idle connections. The client can be used again.
func (c *Client) Close() { c.http().CloseIdleConnections() }

// shared is the address space of RFC 6598, which providers use inside their networks.
var shared = netip.MustParsePrefix("100.64.0.0/10")

func isPublic(address netip.Addr) bool {
	return address.IsGlobalUnicast() && !address.IsPrivate() && !shared.Contains(address)
}
