// Package forward forwards requests to the process running the requested market, when several processes share
// a database. Clients may connect to any process.
package forward

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"github.com/haggle-protocol/haggle/internal/arena/service"
	"github.com/haggle-protocol/haggle/internal/arena/store"
)

// header marks a forwarded request. It is not forwarded again: if two processes each expected the market at
// the other, they would repeat it forever.
const header = "Haggle-Forwarded"

// NewHolder returns a unique name for a process. It contains the URL where other processes reach it:
// http://HOST:PORT, or "" if they cannot.
func NewHolder(address string) string { return address + " " + uuid.NewString() }

// addressIn returns the URL in a process name; "" if there is none.
func addressIn(holder string) string {
	address, _, _ := strings.Cut(holder, " ")
	return address
}

// DefaultRequests is the default limit on concurrently forwarded requests.
const DefaultRequests = 1024

// writeWithin limits each write to a client.
const writeWithin = 10 * time.Second

// Config describes a process. Store, Service and Holder are required.
type Config struct {
	Store   *store.Store
	Service *service.Service
	// Holder is this process's own name.
	Holder string
	// Requests limits concurrently forwarded requests. If 0, [DefaultRequests] is used.
	Requests int
	// Log receives problems. If nil, slog.Default is used.
	Log *slog.Logger
}

// Handler forwards requests for markets run by other processes, until the context ends. next handles
// everything else.
func Handler(ctx context.Context, config Config, next http.Handler) http.Handler {
	config.Log = cmp.Or(config.Log, slog.Default())
	free := semaphore.NewWeighted(int64(cmp.Or(config.Requests, DefaultRequests)))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		market := marketOf(r.URL.EscapedPath())
		if market == "" || r.Header.Get(header) != "" || config.Service.Runs(market) {
			next.ServeHTTP(w, r)
			return
		}
		holder, until, err := config.Store.Holder(r.Context(), market)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			config.Log.WarnContext(r.Context(), "holder not read", "market", market, "error", err)
		}
		target, invalid := url.Parse(addressIn(holder))
		if err != nil || holder == config.Holder || !until.After(time.Now()) || invalid != nil || target.Host == "" {
			next.ServeHTTP(w, r) // no such market, or no reachable process
			return
		}
		if !free.TryAcquire(1) {
			w.Header().Set("Retry-After", "10")
			http.Error(w, "arena: too many connections", http.StatusServiceUnavailable)
			return
		}
		defer free.Release(1)
		// Forwarded requests outlive the server's context.
		forwarded, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		proxy := httputil.ReverseProxy{
			Rewrite: func(p *httputil.ProxyRequest) {
				p.SetURL(target)
				p.SetXForwarded()
				p.Out.Header.Set(header, "1")
			},
			ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
				config.Log.WarnContext(r.Context(), "request not forwarded", "market", market, "to", target.Host, "error", err)
				w.Header().Set("Retry-After", "5")
				http.Error(w, "arena: the market's process does not answer: try again in a few seconds", http.StatusBadGateway)
			},
			ErrorLog: slog.NewLogLogger(config.Log.Handler(), slog.LevelWarn),
		}
		proxy.ServeHTTP(&client{w}, r.WithContext(forwarded))
	})
}

// marketOf returns the market in an escaped WebSocket or page path; "" if there is none.
func marketOf(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) < 3 || parts[0] != "" || parts[1] != "arena" && parts[1] != "markets" {
		return ""
	}
	market, err := url.PathUnescape(parts[2])
	if err != nil {
		return ""
	}
	return market
}

// client is the response to a client, which must read.
type client struct{ http.ResponseWriter }

// Unwrap implements the interface of http.ResponseController.
func (c *client) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Write implements http.ResponseWriter.
func (c *client) Write(data []byte) (int, error) {
	_ = http.NewResponseController(c.ResponseWriter).SetWriteDeadline(time.Now().Add(writeWithin)) // where that is possible
	return c.ResponseWriter.Write(data)
}

// Hijack implements http.Hijacker.
func (c *client) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(c.ResponseWriter).Hijack()
	return connection{conn}, buffered, err
}

// connection lacks CloseWrite, so that both directions end together: otherwise, when a direction ended, a
// silent client would keep the opposite direction open.
type connection struct{ net.Conn }

// Write implements net.Conn.
func (c connection) Write(data []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return 0, err
	}
	return c.Conn.Write(data)
}
