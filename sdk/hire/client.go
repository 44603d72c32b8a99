package hire

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
)

// maxHeader is the size of a response's header in bytes.
const maxHeader = 64 << 10

// Client sends requests to other agents. The zero value connects to public addresses only. Its methods may be
// called from several goroutines.
type Client struct {
	// Local also permits loopback, private and other addresses that are not public: for tests, and for agents of
	// one network. A stranger's id then makes this process send requests into that network.
	Local bool
	// Transport has the certificates to trust, and with Local the proxy. If nil, http.DefaultTransport's are used.
	Transport *http.Transport

	built  sync.Once
	client *http.Client
}

// Card fetches the card of an origin: at most 64 KiB in 10 seconds, without redirects. It returns a [*Refusal] for
// a card that [ParseCard] refuses, and another error if the origin does not respond with a card.
func (c *Client) Card(ctx context.Context, origin string) (*Card, error) {
	if err := CheckOrigin(origin); err != nil {
		return nil, err
	}
	data, err := c.once(ctx, request{
		to: "card of " + origin, method: http.MethodGet, url: origin + CardPath, status: http.StatusOK,
		accept: jsonType, limit: MaxSize, time: requestLimit,
	})
	if err != nil {
		return nil, err
	}
	return ParseCard(data, origin)
}

// Send delivers a message to an inbox. It repeats the request with growing pauses until the inbox has accepted or
// refused the message, or the context ends: give the context the time after which the message is of no use. A
// message that arrives twice counts once. The error is a [*Refusal] with the inbox's reason; after any other error
// the message may have arrived.
func (c *Client) Send(ctx context.Context, inbox string, m *Message) error {
	_, err := c.repeat(ctx, request{
		to: "inbox of " + m.to, method: http.MethodPost, url: inbox, body: m.text, bodyType: jsonType,
		status: http.StatusAccepted, time: requestLimit,
	})
	return err
}

// errNotPublic: a name resolves to an address of this machine or of a private network.
var errNotPublic = errors.New("the address is not public")

func (c *Client) http() *http.Client {
	c.built.Do(func() {
		base := c.Transport
		if base == nil {
			base, _ = http.DefaultTransport.(*http.Transport)
		}
		transport := base.Clone()
		transport.MaxResponseHeaderBytes, transport.DisableCompression = maxHeader, true
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
