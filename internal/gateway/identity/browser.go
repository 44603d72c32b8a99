package identity

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// ownSite refuses cross-site browser requests: changes from another origin, and on a loopback address any
// request with another host name than the loopback's and [Config.Authorities]. Another site's page could
// otherwise reach the gateway by a name that resolves to the loopback address (DNS rebinding).
func (a *Authenticator) ownSite(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		WriteProblem(w, &Error{
			Status: http.StatusForbidden, Code: "origin-foreign",
			Detail: "origin: a page of another site sent the request; send it from the gateway's own origin",
		})
	}))
	next = origins.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, is := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if is && isLoopback(local.String()) && !isLoopback(r.Host) && !a.hasName(r) {
			WriteProblem(w, &Error{
				Status: http.StatusForbidden, Code: "host-unknown",
				Detail: fmt.Sprintf("host %.253q: not a name of this gateway; use one of its names", r.Host),
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hasName reports whether a request names the gateway. The scheme does not matter here.
func (a *Authenticator) hasName(r *http.Request) bool {
	return slices.ContainsFunc([]string{"http", "https"}, func(scheme string) bool {
		return slices.Contains(a.config.Authorities, httpsig.Authority(r, scheme))
	})
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
