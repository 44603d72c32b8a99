// Package forward passes requests for a market to the process that runs it, when several processes share a database. So
// a client may connect to any of them.
package forward

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/haggle-protocol/haggle/internal/arena/service"
	"github.com/haggle-protocol/haggle/internal/arena/store"
)

// header marks a request that another process has passed on. It is not passed on again, so that two processes that each
// believe that the other one has a market do not repeat it forever.
const header = "Haggle-Forwarded"

// Holder returns a new name for a process, which contains the address at which others reach it; http://HOST:PORT, or empty
// if they cannot.
func Holder(address string) string { return address + " " + uuid.NewString() }

// addressIn returns the address in the name of a process; empty if there is none.
func addressIn(holder string) string {
	address, _, _ := strings.Cut(holder, " ")
	return address
}

// Config describes a process. Store, Service and Holder are required.
type Config struct {
	Store   *store.Store
	Service *service.Service
	// Holder is this process's own name.
	Holder string
	// Log receives problems. If nil, slog.Default is used.
	Log *slog.Logger
}

// Handler answers requests for the markets that this process runs, and all others, by next, and passes the rest on.
func Handler(config Config, next http.Handler) http.Handler {
	if config.Log == nil {
		config.Log = slog.Default()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		market := marketOf(r.URL.Path)
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
			next.ServeHTTP(w, r) // it has no market, or nobody to pass the request on to
			return
		}
		proxy := httputil.ReverseProxy{
			Rewrite: func(p *httputil.ProxyRequest) {
				p.SetURL(target)
				p.SetXForwarded()
				p.Out.Header.Set(header, "1")
			},
			ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
				config.Log.WarnContext(r.Context(), "request not passed on", "market", market, "to", target.Host, "error", err)
				w.Header().Set("Retry-After", "5")
				http.Error(w, "arena: the process that runs the market does not answer; another one takes it within seconds",
					http.StatusBadGateway)
			},
			ErrorLog: slog.NewLogLogger(config.Log.Handler(), slog.LevelWarn),
		}
		proxy.ServeHTTP(w, r)
	})
}

// marketOf returns the market in a path of the WebSocket or of a page; empty if there is none.
func marketOf(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) < 3 || parts[0] != "" || parts[1] != "arena" && parts[1] != "markets" {
		return ""
	}
	return parts[2]
}
