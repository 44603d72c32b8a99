package httpsig

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Component is a request part covered by signatures.
type Component struct {
	// Name is a derived component such as "@method", or a field name in lowercase letters.
	Name string
	// Member is a dictionary field's member key. If empty, the component is the whole field.
	Member string
}

// String returns the component as the signature base names it, such as "signature-agent";key="sig1".
func (c Component) String() string {
	text, err := httpsfv.Marshal(c.item())
	if err != nil {
		return strconv.Quote(c.Name)
	}
	return text
}

func (c Component) item() httpsfv.Item {
	item := httpsfv.NewItem(c.Name)
	if c.Member != "" {
		item.Params.Add("key", c.Member)
	}
	return item
}

// parseComponent returns an error for parameters that this package does not support.
func parseComponent(item httpsfv.Item) (c Component, err error) {
	name, ok := item.Value.(string)
	if !ok {
		return c, errors.New("component: not a string; quote its name")
	}
	c.Name = name
	for _, parameter := range item.Params.Names() {
		value, _ := item.Params.Get(parameter)
		member, isString := value.(string)
		if parameter != "key" || !isString || member == "" {
			return c, fmt.Errorf("component %q: parameter %q is not supported; leave it out", name, parameter)
		}
		c.Member = member
	}
	return c, nil
}

// value returns a component's value in the signature base. It returns an error if the request lacks the
// component.
func (c Component) value(r *http.Request, scheme string) (string, error) {
	if !strings.HasPrefix(c.Name, "@") {
		return c.fieldValue(r)
	}
	if c.Member != "" {
		return "", fmt.Errorf("component %s: only fields have members; leave out the parameter \"key\"", c)
	}
	target, err := targetOf(r)
	if err != nil {
		return "", err
	}
	query := "?" + target.RawQuery
	switch c.Name {
	case "@method":
		return r.Method, nil
	case "@scheme":
		return scheme, nil
	case "@authority":
		return Authority(r, scheme), nil
	case "@path":
		return pathOf(target), nil
	case "@query":
		return query, nil
	case "@request-target":
		return target.RequestURI(), nil
	case "@target-uri":
		if target.RawQuery == "" && !target.ForceQuery {
			query = ""
		}
		return scheme + "://" + Authority(r, scheme) + pathOf(target) + query, nil
	}
	return "", fmt.Errorf("component %q: not supported; sign @method, @authority, @path, @query and fields",
		c.Name)
}

// targetOf returns the target as sent by the client: server handlers may have changed r.URL.
func targetOf(r *http.Request) (*url.URL, error) {
	if r.RequestURI == "" {
		return r.URL, nil
	}
	return url.ParseRequestURI(r.RequestURI)
}

func pathOf(target *url.URL) string {
	if path := target.EscapedPath(); path != "" {
		return path
	}
	return "/"
}

// Authority returns the request's normalized host and port: in lowercase letters, without the scheme's
// default port ("http" or "https").
func Authority(r *http.Request, scheme string) string {
	host := r.Host
	if host == "" && r.URL != nil {
		host = r.URL.Host
	}
	host = strings.ToLower(host)
	switch scheme {
	case "https":
		return strings.TrimSuffix(host, ":443")
	case "http":
		return strings.TrimSuffix(host, ":80")
	}
	return host
}

func (c Component) fieldValue(r *http.Request) (string, error) {
	if c.Name != strings.ToLower(c.Name) {
		return "", fmt.Errorf("component %q: not in lowercase letters; change the name", c.Name)
	}
	values := fieldLines(r, c.Name)
	if len(values) == 0 {
		return "", fmt.Errorf("component %q: the request has no such field; send it", c.Name)
	}
	if c.Member == "" {
		trimmed := make([]string, len(values))
		for i, value := range values {
			trimmed[i] = strings.TrimSpace(value)
		}
		return strings.Join(trimmed, ", "), nil
	}
	dictionary, err := httpsfv.UnmarshalDictionary(values)
	if err != nil {
		return "", fmt.Errorf("field %q: not a dictionary: %w", c.Name, err)
	}
	member, ok := dictionary.Get(c.Member)
	if !ok {
		return "", fmt.Errorf("component %s: the field has no such member; send it", c)
	}
	value, ok := member.(httpsfv.StructuredFieldValue)
	if !ok {
		return "", fmt.Errorf("component %s: not a structured field", c)
	}
	return httpsfv.Marshal(value)
}

// fieldLines also returns the two fields that net/http keeps outside of the header.
func fieldLines(r *http.Request, name string) []string {
	if values := r.Header.Values(name); len(values) > 0 {
		return values
	}
	switch {
	case name == "host" && r.Host != "":
		return []string{r.Host}
	case name == "content-length" && r.ContentLength > 0:
		return []string{strconv.FormatInt(r.ContentLength, 10)}
	}
	return nil
}
