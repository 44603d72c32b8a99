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

// maxHeader limits response headers, in bytes.
const maxHeader = 64 << 10

// Client sends requests to other agents. The zero value connects only to public addresses. Client is safe for
// concurrent use.
type Client struct {
	// Local also permits loopback, private and other non-public addresses, for tests or agents in the same
	// network. A stranger's id then makes this process send requests into that network.
	Local bool
	// Transport supplies the trusted certificates and, if Local is set, the proxy. If nil,
	// http.DefaultTransport's are used.
	Transport *http.Transport

	built  sync.Once
	client *http.Client
}

// Card fetches an origin's card: at most 64 KiB in 10 seconds, without redirects. It returns a [*Refusal] for
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

// Send posts a message to an inbox. It retries with growing pauses until the inbox has accepted or refused the
// message, or the context ends: set the context's deadline to when the message becomes useless. Duplicates
// count once. Refusals are returned as a [*Refusal] containing the inbox's reason; if Send fails otherwise, the
// message may have arrived.
func (c *Client) Send(ctx context.Context, inbox string, m *Message) error {
	_, err := c.repeat(ctx, request{
		to: "inbox of " + m.to, method: http.MethodPost, url: inbox, body: m.text, bodyType: jsonType,
		status: http.StatusAccepted, time: requestLimit,
	})
	return err
}

// errNotPublic: a name resolves to this machine or to a private network.
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
			// The check applies to the connection's resolved address. A proxy would resolve the name
			// elsewhere.
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

// shared holds the address space of RFC 6598, which providers use inside their networks.
var shared = netip.MustParsePrefix("100.64.0.0/10")

func isPublic(address netip.Addr) bool {
	return address.IsGlobalUnicast() && !address.IsPrivate() && !shared.Contains(address)
}
