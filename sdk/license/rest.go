package license

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/haggle-protocol/haggle/sdk/internal/retryafter"
)

const (
	// requestTimeout limits a request of the default HTTP client.
	requestTimeout = 30 * time.Second
	// maxResponse is the size of the largest accepted response in bytes.
	maxResponse = 4 << 20
)

// rest is the gateway's REST API.
type rest struct {
	negotiation, licensing string
	client                 *http.Client
}

func newREST(config Config) (*rest, error) {
	r := &rest{client: cmp.Or(config.HTTP, &http.Client{Timeout: requestTimeout})}
	var err error
	if r.negotiation, err = origin("BaseURL", config.BaseURL); err != nil {
		return nil, err
	}
	if config.LicensingURL != "" {
		r.licensing, err = origin("LicensingURL", config.LicensingURL)
	}
	return r, err
}

// origin returns a URL without a trailing slash. Errors do not quote the URL, which may contain a password.
func origin(name, text string) (string, error) {
	parsed, err := url.Parse(text)
	switch {
	case err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https":
		return "", fmt.Errorf("license: %s: not a URL; use one such as https://gateway.example", name)
	case parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "":
		return "", fmt.Errorf("license: %s: has more than scheme, host and path; leave the rest out", name)
	}
	return parsed.JoinPath("/").String(), nil
}

func (r *rest) send(ctx context.Context, method, address, key string, body, into any) error {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return &permanent{err}
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return &permanent{err}
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := r.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	switch {
	case err != nil:
		return fmt.Errorf("license: read the response: %w", err)
	case response.StatusCode < 200 || response.StatusCode > 299:
		return problemOf(response, text)
	case len(text) > maxResponse:
		return &permanent{fmt.Errorf("response of %s: larger than %d bytes", request.URL.Path, maxResponse)}
	}
	if err := json.Unmarshal(text, into); err != nil {
		return &permanent{fmt.Errorf("response of %s: %w; check the URL of the gateway", request.URL.Path, err)}
	}
	switch read := into.(type) {
	case *Answer:
		read.Negotiation.RetryAfter = retryafter.Pause(response.Header, longestPause)
	case *Details:
		read.RetryAfter = retryafter.Pause(response.Header, longestPause)
	}
	return nil
}

func (r *rest) post(ctx context.Context, path, key string, body, into any) error {
	return r.send(ctx, http.MethodPost, r.negotiation+path, key, body, into)
}

func negotiationPath(id string) string { return "api/negotiations/" + url.PathEscape(id) }

func (r *rest) Propose(ctx context.Context, p Proposal) (a Answer, err error) {
	return a, r.post(ctx, "api/negotiations", p.IdempotencyKey, p, &a)
}

func (r *rest) Counter(ctx context.Context, o CounterOffer) (a Answer, err error) {
	return a, r.post(ctx, negotiationPath(o.Negotiation)+"/counter", o.IdempotencyKey, o, &a)
}

func (r *rest) Accept(ctx context.Context, accepted Acceptance) (a Answer, err error) {
	path := negotiationPath(accepted.Negotiation) + "/accept"
	return a, r.post(ctx, path, accepted.IdempotencyKey, accepted, &a)
}

func (r *rest) Leave(ctx context.Context, d Departure) (a Answer, err error) {
	return a, r.post(ctx, negotiationPath(d.Negotiation)+"/leave", d.IdempotencyKey, d, &a)
}

func (r *rest) Status(ctx context.Context, negotiation string) (d Details, err error) {
	return d, r.send(ctx, http.MethodGet, r.negotiation+negotiationPath(negotiation), "", nil, &d)
}

// list reads a page with query parameters.
func list[T any](ctx context.Context, r *rest, address string, query url.Values) (p Page[T], err error) {
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return p, r.send(ctx, http.MethodGet, address, "", nil, &p)
}

func cursorOf(cursor string) url.Values {
	if cursor == "" {
		return nil
	}
	return url.Values{"cursor": {cursor}}
}

func (r *rest) Publishers(ctx context.Context, cursor string) (Page[Publisher], error) {
	return list[Publisher](ctx, r, r.negotiation+"api/publishers", cursorOf(cursor))
}

func (r *rest) Strategy(ctx context.Context, hostname string) (s PublicStrategy, err error) {
	page, err := list[Publisher](ctx, r, r.negotiation+"api/publishers", url.Values{"hostname": {hostname}})
	if err != nil {
		return s, err
	}
	if len(page.Items) != 1 || page.Items[0].Hostname != hostname {
		return s, &Problem{Code: "not_found", Status: http.StatusNotFound,
			Detail: fmt.Sprintf("publisher %.253q: not found", hostname)}
	}
	address := r.negotiation + "api/publishers/" + strconv.FormatInt(page.Items[0].ID, 10) + "/strategy"
	return s, r.send(ctx, http.MethodGet, address, "", nil, &s)
}

func (r *rest) License(ctx context.Context, negotiation string) (l License, err error) {
	return l, r.post(ctx, negotiationPath(negotiation)+"/generate-license", "", nil, &l)
}

// permanent is an error that persists if the request is repeated.
type permanent struct{ error }

func (p *permanent) Error() string { return "license: " + p.error.Error() }

func (p *permanent) Unwrap() error { return p.error }

func (r *rest) Licenses(ctx context.Context, cursor string) (Page[License], error) {
	if r.licensing == "" {
		return Page[License]{}, &permanent{errors.New("LicensingURL not set; set it to list licenses")}
	}
	return list[License](ctx, r, r.licensing+"api/licenses", cursorOf(cursor))
}
