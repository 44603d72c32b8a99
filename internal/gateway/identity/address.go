package identity

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

const (
	prefixIPv4 = 24
	prefixIPv6 = 56
)

func trusted(proxies []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// peer returns the connection's remote address. It is invalid for Unix sockets.
func peer(r *http.Request) netip.Addr {
	address, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return address.Addr().Unmap().WithZone("")
}

// callerAddress returns the last address in the proxy chain that is not a trusted proxy. A malformed entry
// ends the chain, because the sender is unknown.
func callerAddress(r *http.Request, proxies []netip.Prefix) netip.Addr {
	address := peer(r)
	chain := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, entry := range slices.Backward(chain) {
		if !trusted(proxies, address) {
			break
		}
		next, err := netip.ParseAddr(strings.TrimSpace(entry))
		if err != nil {
			break
		}
		address = next.Unmap().WithZone("")
	}
	return address
}

// callerPrefix returns an address's network: /24 or /56.
func callerPrefix(address netip.Addr) netip.Prefix {
	bits := prefixIPv6
	if address.Is4() {
		bits = prefixIPv4
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}

// schemeOf returns the scheme that the client used.
func schemeOf(r *http.Request, proxies []netip.Prefix) string {
	if r.TLS != nil {
		return "https"
	}
	if trusted(proxies, peer(r)) && r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https"
	}
	return "http"
}
