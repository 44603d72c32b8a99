package hire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// fetchLimit is the time for fetching a card.
const fetchLimit = 10 * time.Second

// Fetcher fetches cards. The zero value fetches from public addresses only.
type Fetcher struct {
	// Local also permits loopback, private and other addresses that are not public: for tests, and for agents of
	// one network. A stranger's id then makes this process send requests into that network.
	Local bool
	// Transport has the certificates to trust, and with Local the proxy. If nil, http.DefaultTransport's are used.
	Transport *http.Transport
}

// Card fetches the card of an origin: at most 64 KiB in 10 seconds, without redirects. It returns a [*Refusal] for
// a card that [ParseCard] refuses, and another error if the origin does not respond with a card.
func (f Fetcher) Card(ctx context.Context, origin string) (*Card, error) {
	if err := CheckOrigin(origin); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+CardPath, nil)
	if err != nil {
		return nil, fmt.Errorf("hire: card: %w", err)
	}
	request.Header.Set("Accept", "application/json")
	client, closeIdle := f.client()
	defer closeIdle()
	response, err := client.Do(request)
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

// errNotPublic: the origin resolves to an address of this machine or of a private network.
var errNotPublic = errors.New("hire: card: the address is not public")

func (f Fetcher) client() (client *http.Client, closeIdle func()) {
	base := f.Transport
	if base == nil {
		base, _ = http.DefaultTransport.(*http.Transport)
	}
	transport := base.Clone()
	if !f.Local {
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
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("redirects are not followed") },
	}, transport.CloseIdleConnections
}

// shared is the address space of RFC 6598, which providers use inside their networks.
var shared = netip.MustParsePrefix("100.64.0.0/10")

func isPublic(address netip.Addr) bool {
	return address.IsGlobalUnicast() && !address.IsPrivate() && !shared.Contains(address)
}
