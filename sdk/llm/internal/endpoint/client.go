// Package endpoint connects the vendors' SDKs to their APIs: it bounds responses, follows no redirects, and
// describes failures without the request, its key, or text of the response.
package endpoint

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// MaxResponseBytes is the largest accepted body of a response, after decompression.
const MaxResponseBytes = 1 << 20

var (
	errRedirect = errors.New("endpoint redirects to another URL, redirects are not followed")
	errTooLong  = fmt.Errorf("response longer than %d bytes", MaxResponseBytes)
)

// Client returns a copy of an HTTP client that bounds responses and follows no redirects. If client is nil,
// it returns a new one, which uses the proxies of the environment.
func Client(client *http.Client) *http.Client {
	bounded := http.Client{}
	if client != nil {
		bounded = *client
	}
	if bounded.Transport == nil {
		bounded.Transport = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			IdleConnTimeout:        90 * time.Second,
			MaxIdleConnsPerHost:    16,
			MaxResponseHeaderBytes: 64 << 10,
		}
	}
	bounded.Transport = transport{bounded.Transport}
	return &bounded
}

// transport bounds responses, and refuses redirects before the client can follow them.
type transport struct{ base http.RoundTripper }

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.base.RoundTrip(request)
	if err != nil {
		return nil, &networkError{err}
	}
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		response.Body.Close()
		return nil, errRedirect
	}
	response.Body = &boundedBody{ReadCloser: response.Body, left: MaxResponseBytes}
	return response, nil
}

// networkError marks a failure of the connection. Its text can contain bytes of the response, so it is never
// shown.
type networkError struct{ err error }

func (e *networkError) Error() string { return "connection failed" }
func (e *networkError) Unwrap() error { return e.err }

// boundedBody returns errTooLong after MaxResponseBytes.
type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if n > b.left {
		b.left = 0
		return 0, errTooLong
	}
	b.left -= n
	if err != nil && err != io.EOF {
		err = &networkError{err}
	}
	return n, err
}

// CheckURL returns the host of an API's URL. The scheme must be https, or http for the local machine. No
// error quotes the URL.
func CheckURL(text string) (string, error) {
	parsed, err := url.Parse(text)
	switch {
	case err != nil || parsed.Hostname() == "":
		return "", errors.New("not a URL with a host")
	case parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "":
		return "", errors.New("URL must contain only scheme, host and path")
	case parsed.Scheme == "https", parsed.Scheme == "http" && isLoopback(parsed.Hostname()):
		return parsed.Host, nil
	}
	return "", errors.New("URL must use https (http is only for the local machine)")
}

func isLoopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }
